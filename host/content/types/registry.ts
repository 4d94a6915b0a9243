import type { Undo } from '#plugin-api';

/** Named definitions in order of registration, with listeners for changes. */
export interface Registry<Value extends { readonly name: string }> {
  /** @throws Error if the name is already registered. */
  add(value: Value): Undo;
  get(name: string): Value | undefined;
  all(): readonly Value[];
  /** Calls the listener for each value, now and later. Calls the function it returns when the value is removed. */
  follow(listener: (value: Value) => Undo): void;
}

/** @param kind used in error messages, for example `post type`. */
export function createRegistry<Value extends { readonly name: string }>(kind: string): Registry<Value> {
  const values = new Map<string, Value>();
  const listeners: ((value: Value) => Undo)[] = [];
  const undos = new Map<Value, Undo[]>();
  return {
    add(value) {
      if (values.has(value.name)) throw new Error(`The ${kind} '${value.name}' already exists; choose another name.`);
      values.set(value.name, value);
      undos.set(
        value,
        listeners.map((listener) => listener(value)),
      );
      return () => {
        if (values.get(value.name) !== value) return;
        values.delete(value.name);
        for (const undo of undos.get(value) ?? []) undo();
        undos.delete(value);
      };
    },
    get: (name) => values.get(name),
    all: () => [...values.values()],
    follow(listener) {
      listeners.push(listener);
      for (const value of values.values()) undos.get(value)?.push(listener(value));
    },
  };
}
