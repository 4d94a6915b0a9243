/**
 * Arrays as PostgreSQL reads them. The driver makes them of JavaScript's arrays too, but looks at every value for what it is and
 * escapes it, which for a batch of records in JSON takes as long as all else that is done to write them.
 */

export function numberArray(values: readonly (number | null)[]): string {
  let text = '{';
  for (const [index, value] of values.entries())
    text += (index === 0 ? '' : ',') + (value === null ? 'NULL' : String(value));
  return `${text}}`;
}

export function textArray(values: readonly (string | null)[]): string {
  let text = '{';
  for (const [index, value] of values.entries())
    text +=
      (index === 0 ? '' : ',') +
      (value === null ? 'NULL' : `"${/["\\]/.test(value) ? value.replaceAll(/["\\]/g, '\\$&') : value}"`);
  return `${text}}`;
}

/** Between texts in JSON, in which it stands nowhere: they are full of what `textArray` would have to escape. */
const between = '\u0001';

/** JSON texts in one; `jsonArray` is its counterpart in a statement. Null becomes the empty text. */
export function joinedJson(values: readonly (string | null)[]): string {
  return values.map((value) => value ?? '').join(between);
}

/** The array made of such a text, in SQL; its empty elements stand for null. */
export const jsonArray = (parameter: string): string => `string_to_array(${parameter}::text, E'\\x01')`;
