import { restError } from '#plugin-api';
import type { JsonSchema, MetaDefinition, Undo } from '#plugin-api';

export interface MetaRegistry {
  /** @param type a post type, or empty for all types. */
  register(type: string, key: string, definition: MetaDefinition): Undo;
  find(type: string, key: string): MetaDefinition | undefined;
  /** Keys of a type, including those for all types. */
  keysFor(type: string): ReadonlyMap<string, MetaDefinition>;
  /** @throws RestError 400 `rest_invalid_param` for a value that violates its schema. */
  check(type: string, values: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Calls the listener whenever a key is added or removed. */
  onChange(listener: () => void): void;
}

type Check = (value: unknown) => unknown;

/** Meta keys with their schemas. One registry per process. */
export function createMetaRegistry(compileSchema: (name: string, schema: JsonSchema) => Promise<Check>): MetaRegistry {
  const definitions = new Map<string, Map<string, MetaDefinition>>();
  const checks = new WeakMap<MetaDefinition, Promise<Check>>();
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const find = (type: string, key: string): MetaDefinition | undefined =>
    definitions.get(type)?.get(key) ?? definitions.get('')?.get(key);
  const getCheck = (key: string, definition: MetaDefinition): Promise<Check> => {
    const known =
      checks.get(definition) ??
      compileSchema(
        `meta.${key}`,
        definition.single === false ? { type: 'array', items: definition.schema } : definition.schema,
      );
    checks.set(definition, known);
    return known;
  };

  return {
    register(type, key, definition) {
      if (key === '' || key.length > 255) throw new Error('A meta key must have 1 to 255 characters.');
      const keys = definitions.get(type) ?? new Map<string, MetaDefinition>();
      if (keys.has(key))
        throw new Error(
          `The meta key '${key}' is already registered for '${type || 'all types'}'; choose another name.`,
        );
      definitions.set(type, keys.set(key, definition));
      changed();
      return () => {
        if (keys.get(key) !== definition) return;
        keys.delete(key);
        changed();
      };
    },
    find,
    keysFor: (type) => new Map([...(definitions.get('') ?? []), ...(definitions.get(type) ?? [])]),
    async check(type, values) {
      const checked: Record<string, unknown> = {};
      for (const [key, value] of Object.entries(values)) {
        if (value === undefined)
          throw restError(400, 'rest_invalid_param', `Provide a value for meta.${key}, or null to delete it.`);
        const definition = find(type, key);
        checked[key] = value === null || definition === undefined ? value : (await getCheck(key, definition))(value);
      }
      return checked;
    },
    onChange: (listener) => void listeners.push(listener),
  };
}
