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
  console: console,
  ...Object.fromEntries(
    [Object, Array, Function, String, Number, Promise, Map, Set, WeakMap, Date, RegExp, Error, Uint8Array].map(
      (constructor) => [`${constructor.name}.prototype`, constructor.prototype as object],
    ),
  ),
};

/** What prints for the whole process. Their methods are those of a prototype, until a plugin puts its own on top. */
const streams = { 'process.stdout': process.stdout, 'process.stderr': process.stderr };

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
  const printing = Object.entries(streams).map(([name, stream]) => ({ name, stream, write: stream.write }));
  return () => {
    const replaced: string[] = [];
    for (const { name, stream, write } of printing) {
      if (stream.write === write) continue;
      stream.write = write;
      replaced[replaced.length] = `${name}.write`;
    }
    for (const { name, holder, key, descriptor } of before) {
      const now = Reflect.getOwnPropertyDescriptor(holder, key);
      if (now?.value === descriptor.value) continue;
      if (Reflect.defineProperty(holder, key, descriptor)) replaced[replaced.length] = name;
    }
    return replaced;
  };
}
