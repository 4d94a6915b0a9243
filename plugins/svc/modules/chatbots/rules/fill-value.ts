import type { RuleFacts } from './rule.ts';

/** Longest value a placeholder brings in, in characters: a message of a visitor is not for ever. */
const longest = 4000;

/**
 * Fills in `{message}`, `{page_url}`, `{form_id}`, `{error_code}`, `{variable:name}` and `{field:id}`; what is not known
 * becomes empty, other braces stay. What is brought in is not looked at again.
 */
export function fillValue(text: string, facts: RuleFacts): string {
  return text.replace(/\{(message|page_url|form_id|error_code|variable:[\w-]+|field:[\w-]+)\}/g, (_, name: string) =>
    textOf(name, facts).slice(0, longest),
  );
}

/** The text a placeholder or the fact of a condition stands for. */
export function textOf(name: string, facts: RuleFacts): string {
  if (name.startsWith('variable:')) return own(facts.variables, name.slice('variable:'.length));
  if (name.startsWith('field:')) return own(facts.fields, name.slice('field:'.length));
  switch (name) {
    case 'message':
      return facts.message;
    case 'page_url':
      return facts.page_url;
    case 'form_id':
      return facts.form_id;
    case 'error_code':
      return facts.error_code;
    case 'message_count':
      return String(facts.message_count);
    case 'hour':
      return String(facts.hour);
    case 'weekday':
      return String(facts.weekday);
    case 'signed_in':
      return facts.signed_in ? 'yes' : 'no';
    default:
      return '';
  }
}

function own(values: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
}
