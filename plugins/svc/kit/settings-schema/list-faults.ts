import type { Faults } from './check-shape.ts';

/** A fault for each value that was there before in the list. `member`: what of an item the value is. */
export function repeatFaults(path: string, values: readonly string[], member = 'id'): Faults {
  const faults: Faults = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    faults[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return faults;
}

/** A fault for each value that is not right. `faultOf` answers what goes on after its path, without the full stop; null: it is right. */
export function listFaults(path: string, values: readonly string[], faultOf: (value: string) => string | null): Faults {
  return Object.fromEntries(
    values.flatMap((value, at) => {
      const fault = faultOf(value);
      return fault === null ? [] : [[`${path}[${String(at)}]`, `${path}[${String(at)}] ${fault}.`]];
    }),
  );
}
