import type { BotSettings } from '../bots/bot.ts';
import type { Rule, RuleAction, RuleCondition, RuleEvent, RuleOperator } from '../rules/rule.ts';
import type { Choice } from '../../../admin-ui/setting-field.ts';

/** Events in the order of a conversation. */
export const eventLabels: Readonly<Record<RuleEvent, { readonly title: string; readonly when: string }>> = {
  session_started: { title: 'A conversation begins', when: 'When a conversation begins' },
  message_received: { title: 'A message comes in', when: 'When a message comes in' },
  form_submitted: { title: 'A form is submitted', when: 'When a form is submitted' },
  error: { title: 'An answer fails', when: 'When an answer fails' },
};

/** Facts; `variable` and `field` take a name beside them. */
export const factChoices: readonly Choice[] = [
  { value: 'message', label: 'The message' },
  { value: 'message_count', label: 'Number of messages' },
  { value: 'page_url', label: 'Address of the page' },
  { value: 'signed_in', label: 'Signed in (yes or no)' },
  { value: 'role', label: 'Role of the user' },
  { value: 'form_id', label: 'Id of the form' },
  { value: 'error_code', label: 'Code of the error' },
  { value: 'hour', label: 'Hour (0 to 23)' },
  { value: 'weekday', label: 'Weekday (1 Monday to 7)' },
  { value: 'variable', label: 'A variable …' },
  { value: 'field', label: 'A field of the form …' },
];

export const operatorChoices: readonly (Choice & { readonly value: RuleOperator })[] = [
  { value: 'contains', label: 'contains' },
  { value: 'not_contains', label: 'does not contain' },
  { value: 'equals', label: 'is' },
  { value: 'not_equals', label: 'is not' },
  { value: 'starts_with', label: 'begins with' },
  { value: 'ends_with', label: 'ends with' },
  { value: 'greater_than', label: 'is greater than' },
  { value: 'less_than', label: 'is less than' },
  { value: 'is_empty', label: 'is empty' },
  { value: 'is_not_empty', label: 'is not empty' },
];

export const actionChoices: readonly (Choice & { readonly value: RuleAction['type'] })[] = [
  { value: 'reply', label: 'Reply with a text of yours' },
  { value: 'add_context', label: 'Tell the model something' },
  { value: 'block', label: 'Refuse the message' },
  { value: 'display_form', label: 'Show a form' },
  { value: 'set_variable', label: 'Remember a variable' },
  { value: 'store', label: 'Note something in the log' },
  { value: 'call_hook', label: 'Call a plugin' },
];

/** `The message contains "refund" or "money back"`. */
export function describeCondition({ fact, operator, value }: RuleCondition): string {
  const [kind = '', name = ''] = fact.split(':');
  const subject =
    kind === 'variable'
      ? `Variable ${name}`
      : kind === 'field'
        ? `Field ${name}`
        : (factChoices.find((choice) => choice.value === fact)?.label ?? fact).replace(/ \(.*$/, '');
  const verb = operatorChoices.find((choice) => choice.value === operator)?.label ?? operator;
  if (operator === 'is_empty' || operator === 'is_not_empty') return `${subject} ${verb}`;
  const values = value
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `“${shortened(line.trim(), 40)}”`);
  return `${subject} ${verb} ${values.length > 3 ? `${values.slice(0, 3).join(', ')} or ${String(values.length - 3)} more` : values.length === 0 ? 'nothing' : values.join(' or ')}`;
}

/** What a rule does, in a sentence. */
export function describeAction(action: RuleAction, { forms }: Pick<BotSettings, 'forms'>): string {
  switch (action.type) {
    case 'reply':
      return `reply: ${shortened(action.text, 120)}`;
    case 'add_context':
      return `tell the model: ${shortened(action.text, 120)}`;
    case 'block':
      return `refuse it: ${shortened(action.text, 120)}`;
    case 'display_form':
      return `show the form ${forms.find(({ id }) => id === action.form_id)?.name ?? action.form_id}`;
    case 'set_variable':
      return `remember ${action.name} = ${shortened(action.value, 80)}`;
    case 'store':
      return `note ${action.name}: ${shortened(action.value, 80)}`;
    case 'call_hook':
      return `call svc_chatbot_rule_${action.name}`;
  }
}

/** What a rule is called: its name, or what it does. */
export function ruleTitle(rule: Pick<Rule, 'name' | 'action'>, bot: Pick<BotSettings, 'forms'>): string {
  if (rule.name.trim() !== '') return rule.name;
  const words = describeAction(rule.action, bot);
  return words.charAt(0).toUpperCase() + shortened(words.slice(1), 60);
}

function shortened(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
