import type { FieldErrors } from '../../kit/field-errors.ts';
import { moduleTitles } from './words.ts';

interface FieldInit {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
  readonly providers: readonly { readonly value: string; readonly label: string }[];
}

const scopes = [
  { value: 'all', label: 'All calls' },
  { value: 'rest', label: 'Calls with the REST key' },
  ...Object.entries(moduleTitles).map(([id, title]) => ({ value: `module:${id}`, label: `Module ${title}` })),
  { value: 'bot', label: 'One chatbot' },
];

/** The fields of a budget's form in their groups, as `admin/field` shows them. */
export function budgetFields({ values, errors, providers }: FieldInit) {
  const field = (name: string, label: string, rest: Readonly<Record<string, unknown>> = {}) => ({
    id: `budget-${name}`,
    name,
    label,
    value: values[name] ?? '',
    error: errors[name] ?? '',
    ...rest,
  });
  const module = values['whose'];
  const known =
    scopes.some(({ value }) => value === module) || typeof module !== 'string'
      ? scopes
      : [...scopes, { value: module, label: module.replace('module:', 'Module ') }];
  const limit = [
    field('name', 'Name', { required: true, maxlength: 80, help: 'Refusals and alerts mention it.' }),
    field('amount', 'Amount', { type: 'number', required: true, min: 0, step: 'any' }),
    field('unit', 'Of', {
      type: 'select',
      options: [
        { value: 'dollars', label: 'US dollars' },
        { value: 'tokens', label: 'Tokens' },
        { value: 'calls', label: 'Calls' },
      ],
    }),
    field('period', 'In each', {
      type: 'select',
      options: [
        { value: 'day', label: 'Day' },
        { value: 'month', label: 'Month' },
      ],
    }),
  ];
  const whose = [
    field('whose', 'Whose calls', { type: 'select', options: known, error: errors['scope'] ?? errors['module'] ?? '' }),
    field('bot_id', 'Id of the chatbot', {
      type: 'number',
      min: 1,
      step: 1,
      help: 'For “One chatbot”: as the page Chatbots shows it.',
    }),
  ];
  const atLimit = [
    field('at_limit', 'At the limit', {
      type: 'select',
      options: [
        { value: 'stop', label: 'Refuse calls' },
        { value: 'fallback', label: 'Fall back to a cheaper model' },
      ],
      help: 'Falling back is for text; images and embeddings are refused.',
    }),
    field('fallback_provider', 'Provider to fall back to', {
      type: 'select',
      options: [{ value: '', label: 'None' }, ...providers],
    }),
    field('fallback_model', 'Model to fall back to', {
      maxlength: 200,
      mono: true,
      help: 'This budget does not hold it back: add a second one if it is to stop as well.',
    }),
  ];
  const more = [
    field('alert_percent', 'Alert at percent', { type: 'number', min: 0, max: 100, step: 1, help: '0: no alert.' }),
    field('unpriced', 'Calls without a price', {
      type: 'select',
      options: [
        { value: 'refuse', label: 'Are refused' },
        { value: 'free', label: 'Count as free' },
      ],
      help: 'Under a budget of dollars.',
    }),
  ];
  return { limit, whose, atLimit, more };
}
