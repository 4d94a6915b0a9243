import { asRecord, isRecord } from '#plugin-api';

/** A value that a JSON Schema allows, as a model that is held to it would write it; texts come from the request. */
export function jsonSample(schema: unknown, text: string): unknown {
  if (!isRecord(schema)) return text;
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
  if ('const' in schema) return schema['const'];
  const alternatives = [schema['anyOf'], schema['oneOf']].find(Array.isArray) as unknown[] | undefined;
  if (alternatives) return jsonSample(alternatives[0], text);
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  if (type === 'object' || isRecord(schema['properties'])) {
    const properties = asRecord(schema['properties']);
    return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, jsonSample(member, text)]));
  }
  if (type === 'array') return [jsonSample(schema['items'], text)];
  if (type === 'number' || type === 'integer') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 7;
  if (type === 'boolean') return true;
  return type === 'null' ? null : text;
}
