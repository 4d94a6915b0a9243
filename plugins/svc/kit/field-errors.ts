/** Errors by the path of the member, such as `embed.allowed_domains[1]`, while they are collected. */
export type SettingErrors = Record<string, string>;

/** An error for each value that occurs earlier in the list. `member`: the member of an item that has the value. */
export function duplicateErrors(path: string, values: readonly string[], member = 'id'): SettingErrors {
  const errors: SettingErrors = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    errors[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return errors;
}

/** An error for each invalid value. `errorOf` returns the end of the sentence after the path, without the full stop, or null. */
export function listErrors(
  path: string,
  values: readonly string[],
  errorOf: (value: string) => string | null,
): SettingErrors {
  return Object.fromEntries(
    values.flatMap((value, at) => {
      const error = errorOf(value);
      return error === null ? [] : [[`${path}[${String(at)}]`, `${path}[${String(at)}] ${error}.`]];
    }),
  );
}
