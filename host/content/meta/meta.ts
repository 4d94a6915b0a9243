import {
  restError,
  type HooksApi,
  type JsonSchema,
  type MetaApi,
  type MetaDefinition,
  type Post,
  type User,
  type Undo,
  storedJson,
} from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** Before a meta value of a post is added. */
    add_post_meta: (postId: number, key: string, value: unknown) => void;
    /** After a meta value of a post was added. */
    added_post_meta: (...args: [metaId: number, postId: number, key: string, value: unknown]) => void;
    /** Before a meta value of a post is changed. Does not run if the value stays the same. */
    update_post_meta: (...args: [metaId: number, postId: number, key: string, value: unknown]) => void;
    /** After a meta value of a post was changed. */
    updated_post_meta: (...args: [metaId: number, postId: number, key: string, value: unknown]) => void;
    /** Before the values of a key are deleted from a post. */
    delete_post_meta: (...args: [metaIds: readonly number[], postId: number, key: string]) => void;
    /** After the values of a key were deleted from a post. */
    deleted_post_meta: (...args: [metaIds: readonly number[], postId: number, key: string]) => void;
  }
}

/** Returns the value coerced to the types of the schema. @throws RestError 400 */
export type CompileSchema = (name: string, schema: JsonSchema) => Promise<(value: unknown) => unknown>;

export interface MetaDependencies {
  readonly database: Pick<Database, 'knex' | 'transaction' | 'lock'>;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
  readonly compileSchema: CompileSchema;
  /** Type of a post; null if the post does not exist. */
  readonly getType: (postId: number) => Promise<string | null>;
}

export interface Meta extends MetaApi, Pick<MetaRegistry, 'register' | 'keysFor' | 'find' | 'onChange'> {
  /** Values of the given keys for many posts, by post and key. */
  load(
    postIds: readonly number[],
    keys?: readonly string[],
  ): Promise<ReadonlyMap<number, ReadonlyMap<string, unknown[]>>>;
  /** Checks and coerces values before a write. Null, which deletes the key, is allowed. @throws RestError 400 */
  check(type: string, values: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
  /** Writes checked values without loading the post. */
  write(postId: number, type: string, values: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Meta values of posts: JSON, one or more per key. */
export function createMeta({ database, hooks, compileSchema, getType }: MetaDependencies): Meta {
  const registry = createMetaRegistry(compileSchema);
  const store = createMetaStore(database);

  const existing = async (postId: number): Promise<string> => {
    const type = await getType(postId);
    if (type === null) throw restError(404, 'rest_post_invalid_id', 'Invalid post ID.');
    return type;
  };
  const { write, remove } = createMetaWriter(store, hooks);
  const listed = (definition: MetaDefinition | undefined, value: unknown): readonly unknown[] =>
    definition?.single === false ? (Array.isArray(value) ? (value as unknown[]) : [value]) : [value];

  const update: MetaApi['update'] = async (postId, key, value) => {
    const type = await existing(postId);
    const checked = await registry.check(type, { [key]: value });
    return write(postId, key, listed(registry.find(type, key), checked[key]));
  };

  return {
    register: (type, key, definition) => registry.register(type, key, definition),
    keysFor: registry.keysFor,
    find: registry.find,
    onChange: registry.onChange,
    load: store.load,
    check: (type, values) => registry.check(type, values),
    async get(postId, key) {
      const definition = registry.find((await getType(postId)) ?? '', key);
      const values = (await store.rows(postId, key)).map(({ value }) => value);
      if (definition?.single === false) return values;
      return values.length > 0 ? values[0] : (definition?.default ?? null);
    },
    async all(postId) {
      const rows = await store.load([postId]);
      return Object.fromEntries(rows.get(postId) ?? []);
    },
    update,
    increment: (postId, key, by = 1) =>
      database.transaction(async () => {
        await database.lock(`post_meta ${String(postId)} ${key}`);
        const [row] = await store.rows(postId, key);
        const sum = (typeof row?.value === 'number' ? row.value : 0) + by;
        await update(postId, key, sum);
        return sum;
      }),
    delete: remove,
    async write(postId, type, values) {
      for (const [key, value] of Object.entries(values)) {
        if (value === null) await remove(postId, key);
        else await write(postId, key, listed(registry.find(type, key), value));
      }
    },
  };
}

/** Replaces and deletes the values of one key, with the actions of WordPress for each row. */
function createMetaWriter(store: MetaStore, hooks: MetaDependencies['hooks']) {
  const remove = async (postId: number, key: string): Promise<boolean> => {
    const rows = await store.rows(postId, key);
    if (rows.length === 0) return false;
    const ids = rows.map(({ id }) => id);
    await hooks.doActionAsync('delete_post_meta', ids, postId, key);
    await store.remove(ids);
    await hooks.doActionAsync('deleted_post_meta', ids, postId, key);
    return true;
  };
  const write = async (postId: number, key: string, values: readonly unknown[]): Promise<boolean> => {
    const rows = await store.rows(postId, key);
    if (JSON.stringify(rows.map(({ value }) => value)) === JSON.stringify(values)) return false;
    const [row] = rows;
    if (values.length === 1 && rows.length === 1 && row !== undefined) {
      await hooks.doActionAsync('update_post_meta', row.id, postId, key, values[0]);
      await store.update(row.id, values[0]);
      await hooks.doActionAsync('updated_post_meta', row.id, postId, key, values[0]);
      return true;
    }
    await remove(postId, key);
    for (const value of values) {
      await hooks.doActionAsync('add_post_meta', postId, key, value);
      await hooks.doActionAsync('added_post_meta', await store.add(postId, key, value), postId, key, value);
    }
    return true;
  };
  return { write, remove };
}

/** Whether the user can set this key: by its `authorize` rule; without one, keys that start with `_` are protected. */
export function mayWriteMeta({
  definition,
  key,
  user,
  post,
}: {
  definition: MetaDefinition;
  key: string;
  user: User;
  post: Post;
}): boolean {
  return definition.authorize ? definition.authorize(user, post) : !key.startsWith('_');
}

interface MetaRegistry {
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
function createMetaRegistry(compileSchema: (name: string, schema: JsonSchema) => Promise<Check>): MetaRegistry {
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

interface MetaRow {
  readonly id: number;
  readonly post_id: number;
  readonly key: string;
  readonly value: string;
}

/** The SQL of meta. */
function createMetaStore({ knex }: Pick<Database, 'knex'>) {
  return {
    async rows(postId: number, key: string): Promise<{ readonly id: number; readonly value: unknown }[]> {
      const rows = await knex<MetaRow>('post_meta').where({ post_id: postId, key }).orderBy('id').select('id', 'value');
      return rows.map(({ id, value }) => ({ id: Number(id), value: storedJson(value) }));
    },
    async load(
      postIds: readonly number[],
      keys?: readonly string[],
    ): Promise<ReadonlyMap<number, ReadonlyMap<string, unknown[]>>> {
      const found = new Map<number, Map<string, unknown[]>>();
      if (postIds.length === 0 || keys?.length === 0) return found;
      const select = knex<MetaRow>('post_meta')
        .whereIn('post_id', postIds)
        .orderBy('id')
        .select('post_id', 'key', 'value');
      if (keys) void select.whereIn('key', keys);
      for (const { post_id, key, value } of await select) {
        const values = found.get(Number(post_id)) ?? new Map<string, unknown[]>();
        values.set(key, [...(values.get(key) ?? []), storedJson(value)]);
        found.set(Number(post_id), values);
      }
      return found;
    },
    async add(postId: number, key: string, value: unknown): Promise<number> {
      const [row] = (await knex('post_meta')
        .insert({ post_id: postId, key, value: JSON.stringify(value) })
        .returning('id')) as { id: number }[];
      return Number(row?.id);
    },
    async update(id: number, value: unknown): Promise<void> {
      await knex('post_meta')
        .where({ id })
        .update({ value: JSON.stringify(value) });
    },
    async remove(ids: readonly number[]): Promise<void> {
      await knex('post_meta').whereIn('id', ids).delete();
    },
  };
}

type MetaStore = ReturnType<typeof createMetaStore>;
