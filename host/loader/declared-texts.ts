import type { Undo } from '#plugin-api';

/** Members of declarations and schemas that people read. */
const textMembers: ReadonlySet<string> = new Set(['title', 'menu', 'label', 'description', 'help']);

/** The same service, which notes the texts in what these methods register. */
export function withTexts<Service extends object>(
  service: Service,
  names: readonly (keyof Service)[],
  addTexts: (texts: () => readonly string[]) => Undo,
): Service {
  const noted: Partial<Service> = {};
  for (const name of names) {
    const register = service[name] as (...given: unknown[]) => Undo;
    noted[name] = ((...given: unknown[]) => {
      const undo = register(...given);
      const forget = addTexts(() => textsOf(given));
      return () => {
        forget();
        undo();
      };
    }) as Service[keyof Service];
  }
  return { ...service, ...noted };
}

/** The texts that people read in a declaration, which may refer to itself. */
export function textsOf(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' ? (textMembers.has(name) ? [member] : []) : textsOf(member, seen),
  );
}
