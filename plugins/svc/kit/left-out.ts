import { isRecord, type JsonSchema, type RestRequest, type RouteArguments } from '#plugin-api';

/**
 * Removes from a request what counts as left out (D49): members that are null where they are optional, at any depth that the
 * schemas describe, and query parameters that are empty.
 */
export function leaveOutEmpty({ json, query }: Pick<RestRequest, 'json' | 'query'>, args: RouteArguments): void {
  for (const [name, { required }] of Object.entries(args))
    if (required !== true && query[name] === '') Reflect.deleteProperty(query, name);
  removeNulls(json, { type: 'object', properties: args });
}

function removeNulls(value: unknown, schema: JsonSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) removeNulls(item, schema.items);
    return;
  }
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (value[name] !== null) removeNulls(value[name], member);
    else if (member.required !== true && !takesNull(member)) Reflect.deleteProperty(value, name);
  }
}

function takesNull({ type }: JsonSchema): boolean {
  return type === 'null' || (Array.isArray(type) && type.includes('null'));
}
