import type { SettingErrors } from './check-shape.ts';

/** An error for each value that was there before in the list. `member`: what of an item the value is. */
export function repeatErrors(path: string, values: readonly string[], member = 'id'): SettingErrors {
  const errors: SettingErrors = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    errors[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return errors;
}

/** An error for each value that is not right. `errorOf` answers what goes on after its path, without the full stop; null: it is right. */
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
