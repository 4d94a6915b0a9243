/** What every part of a process shares, by the name in a sentence. */
const shared: Readonly<Record<string, object>> = {
  '': globalThis,
  JSON: JSON,
  Math: Math,
  Reflect: Reflect,
  Object: Object,
  Array: Array,
  Promise: Promise,
  Date: Date,
  ...Object.fromEntries(
    [Object, Array, Function, String, Number, Promise, Map, Set, WeakMap, Date, RegExp, Error, Uint8Array].map(
      (constructor) => [`${constructor.name}.prototype`, constructor.prototype as object],
    ),
  ),
};

/** Notes the functions of the language and of Node. The returned function restores those replaced since, and names them. */
export function noteGlobals(): () => string[] {
  const before = Object.entries(shared).flatMap(([name, holder]) =>
    Reflect.ownKeys(holder).flatMap((key) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(holder, key);
      // Getters of Node load a global at its first use, and replace themselves.
      if (typeof descriptor?.value !== 'function') return [];
      return [{ name: [name, String(key)].filter(Boolean).join('.'), holder, key, descriptor }];
    }),
  );
  return () => {
    const replaced: string[] = [];
    for (const { name, holder, key, descriptor } of before) {
      const now = Reflect.getOwnPropertyDescriptor(holder, key);
      if (now?.value === descriptor.value) continue;
      if (Reflect.defineProperty(holder, key, descriptor)) replaced[replaced.length] = name;
    }
    return replaced;
  };
}
