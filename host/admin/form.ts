/** The fields of a parsed form by their flat names, in order: what a form needs to send it again. */
export function flattenForm(form: Readonly<Record<string, unknown>>): { name: string; value: string }[] {
  const flatten = (name: string, value: unknown): { name: string; value: string }[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([key, child]) => flatten(`${name}[${key}]`, child))
      : [{ name, value: String(value) }];
  return Object.entries(form).flatMap(([name, value]) => flatten(name, value));
}

/** A text field of a form, trimmed. Empty when it is missing or not text. */
export function textField(form: Readonly<Record<string, unknown>>, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
}
