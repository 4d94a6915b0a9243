import { translateText, type Choice } from '#plugin-api';
import type { BotSettings } from '../bots/bot.ts';
import type { Rule, RuleAction, RuleCondition, RuleEvent, RuleOperator } from '../rules/rule.ts';

/** Events in the order of a conversation. */
export const eventLabels: Readonly<Record<RuleEvent, string>> = {
  session_started: 'A conversation starts',
  message_received: 'A message arrives',
  form_submitted: 'A form is submitted',
  error: 'An answer fails',
};

/** Facts. `variable` and `field` need a name. */
export const factChoices: readonly Choice[] = [
  { value: 'message', label: 'The message' },
  { value: 'message_count', label: 'Number of messages' },
  { value: 'page_url', label: 'URL of the page' },
  { value: 'signed_in', label: 'Signed in (yes or no)' },
  { value: 'role', label: 'Role of the user' },
  { value: 'form_id', label: 'Form id' },
  { value: 'error_code', label: 'Error code' },
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
  { value: 'starts_with', label: 'starts with' },
  { value: 'ends_with', label: 'ends with' },
  { value: 'matches', label: 'matches the pattern' },
  { value: 'greater_than', label: 'is greater than' },
  { value: 'less_than', label: 'is less than' },
  { value: 'is_empty', label: 'is empty' },
  { value: 'is_not_empty', label: 'is not empty' },
];

export const actionChoices: readonly (Choice & { readonly value: RuleAction['type'] })[] = [
  { value: 'reply', label: 'Reply with a fixed text' },
  { value: 'add_context', label: 'Add context for the model' },
  { value: 'block', label: 'Refuse the message' },
  { value: 'display_form', label: 'Show a form' },
  { value: 'set_variable', label: 'Set a variable' },
  { value: 'store', label: 'Add a note to the log' },
  { value: 'call_hook', label: 'Call a plugin' },
  { value: 'call_url', label: 'Call a URL' },
];

/** `The message contains "refund" or "money back"`. */
export function describeCondition({ fact, operator, value }: RuleCondition): string {
  const [kind = '', name = ''] = fact.split(':');
  const subject = translateText(
    kind === 'variable'
      ? `Variable ${name}`
      : kind === 'field'
        ? `Field ${name}`
        : (factChoices.find((choice) => choice.value === fact)?.label ?? fact).replace(/ \(.*$/, ''),
  );
  const verb = operatorChoices.find((choice) => choice.value === operator)?.label ?? operator;
  if (operator === 'is_empty' || operator === 'is_not_empty') return `${subject} ${verb}`;
  const values = value
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `“${shorten(line.trim(), 40)}”`);
  if (values.length === 0) return `${subject} ${verb} nothing`;
  const list =
    values.length > 3 ? `${values.slice(0, 3).join(', ')} or ${String(values.length - 3)} more` : values.join(' or ');
  return `${subject} ${verb} ${list}`;
}

/** Describes an action: `reply: …`. */
export function describeAction(action: RuleAction, { forms }: Pick<BotSettings, 'forms'>): string {
  switch (action.type) {
    case 'reply':
      return `reply: ${shorten(action.text, 120)}`;
    case 'add_context':
      return `add context: ${shorten(action.text, 120)}`;
    case 'block':
      return `refuse: ${shorten(action.text, 120)}`;
    case 'display_form':
      return `show the form ${forms.find(({ id }) => id === action.form_id)?.name ?? action.form_id}`;
    case 'set_variable':
      return `set ${action.name} = ${shorten(action.value, 80)}`;
    case 'store':
      return `add note ${action.name}: ${shorten(action.value, 80)}`;
    case 'call_hook':
      return `call svc_chatbot_rule_${action.name}`;
    case 'call_url':
      return `call ${shorten(action.url, 80)}`;
  }
}

/** The name of a rule, or its action if it has none. */
export function ruleTitle(rule: Pick<Rule, 'name' | 'action'>, bot: Pick<BotSettings, 'forms'>): string {
  if (rule.name.trim() !== '') return rule.name;
  const action = describeAction(rule.action, bot);
  const text = shorten(action, 61);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function shorten(text: string, maxLength: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
