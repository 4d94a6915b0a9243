import { isRecord, RestError } from '#plugin-api';
import type { JsonSchema, RestField, RouteArgument, Undo } from '#plugin-api';
import { requestedMembers, type Context, type Request } from './context.ts';

/** Members that plugins add to posts and terms in REST, by post type or taxonomy. */
export interface RestFields {
  /** @throws Error if the type has the field already. */
  register(types: string | readonly string[], name: string, field: RestField): Undo;
  of(type: string): ReadonlyMap<string, RestField>;
  /** Calls the listener whenever a field is added or removed. */
  onChange(listener: () => void): void;
}

const none: ReadonlyMap<string, RestField> = new Map();

export function createRestFields(): RestFields {
  const fields = new Map<string, Map<string, RestField>>();
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    register(types, name, field) {
      const all = [types].flat() as string[];
      if (name === '') throw new Error('A REST field needs a name.');
      const taken = all.find((type) => fields.get(type)?.has(name));
      if (taken !== undefined)
        throw new Error(`The REST field '${name}' is already registered for '${taken}'; choose another name.`);
      for (const type of all) fields.set(type, (fields.get(type) ?? new Map<string, RestField>()).set(name, field));
      changed();
      return () => {
        for (const type of all) if (fields.get(type)?.get(name) === field) fields.get(type)?.delete(name);
        changed();
      };
    },
    of: (type) => fields.get(type) ?? none,
    onChange: (listener) => void listeners.push(listener),
  };
}

/** Schemas of the fields, for the schema of the item. */
export function fieldSchemas(fields: RestFields, type: string): Record<string, JsonSchema> {
  return Object.fromEntries(
    [...fields.of(type)].flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema] as const])),
  );
}

/** Arguments to write the fields. As in WordPress, defaults apply to new items only, and null is passed on unchecked. */
export function fieldArguments(fields: RestFields, type: string, isNew: boolean): Record<string, RouteArgument> {
  return Object.fromEntries(
    [...fields.of(type)].flatMap(([name, { schema, argument = {} }]) => {
      if (schema === undefined || schema.readOnly === true) return [];
      const { default: preset, ...functions } = argument;
      const { context: _context, ...described } = schema;
      return [
        [
          name,
          { ...described, ...functions, acceptsNull: true, ...(isNew && preset !== undefined && { default: preset }) },
        ],
      ];
    }),
  );
}

/** Adds the fields to the members of an item that the request asks for. */
export async function withFields(
  fields: RestFields,
  { type, body, request, context }: { type: string; body: Record<string, unknown>; request: Request; context: Context },
): Promise<Record<string, unknown>> {
  const own = fields.of(type);
  if (own.size === 0) return body;
  const wanted = requestedMembers(request);
  const item = wanted === null ? { ...body } : pick(body, new Set([...wanted, 'id']));
  for (const [name, { get, schema }] of own) {
    if (get === undefined || (wanted !== null && !wanted.has(name))) continue;
    if (schema?.context?.includes(context) === false) continue;
    item[name] = inSchemaContext(await read(get, { item, field: { name, type, request } }), schema, context);
  }
  return item;
}

interface Reading {
  readonly item: Readonly<Record<string, unknown>>;
  readonly field: { readonly name: string; readonly type: string; readonly request: Request };
}

/** As of a filter whose value is shown, a mistake of one field takes nothing else away: its value is null. */
async function read(get: NonNullable<RestField['get']>, { item, field }: Reading): Promise<unknown> {
  try {
    return await get({ ...item }, field);
  } catch (error) {
    if (error instanceof RestError) throw error;
    const { name, type, request } = field;
    request.log.error('Failed to read a REST field', { event: 'rest_field_failed', field: name, type, error });
    return null;
  }
}

function pick(body: Record<string, unknown>, names: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.has(name)));
}

/** Leaves out members whose schema names other contexts, at every level. */
function inSchemaContext(value: unknown, schema: JsonSchema | undefined, context: string): unknown {
  if (schema === undefined || typeof value !== 'object' || value === null) return value;
  const { items } = schema;
  if (Array.isArray(value)) return value.map((item: unknown) => inSchemaContext(item, items, context));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => schema.properties?.[name]?.context?.includes(context) !== false)
      .map(([name, member]) => [name, inSchemaContext(member, schema.properties?.[name], context)]),
  );
}

/** Whether the request writes a field: then the whole write needs a transaction. */
export function writesFields(fields: RestFields, type: string, { params }: Request): boolean {
  return [...fields.of(type)].some(([name, { update }]) => update !== undefined && Object.hasOwn(params, name));
}

/** Passes the sent values on. @throws RestError of a field that refuses. */
export async function updateFields(
  fields: RestFields,
  { type, item, request }: { type: string; item: { readonly id: number }; request: Request },
): Promise<void> {
  for (const [name, { update }] of fields.of(type)) {
    if (update === undefined || !Object.hasOwn(request.params, name)) continue;
    const result = await update(request.params[name], item, { name, type, request });
    if (result instanceof RestError || isErrorLike(result)) throw result as Error;
  }
}

function isErrorLike(value: unknown): boolean {
  return value instanceof Error || (isRecord(value) && typeof value['code'] === 'string' && 'message' in value);
}
