import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** Which schema of the official descriptions a request of a store's client must meet, by its method and path. */
const bodies: readonly (readonly [store: string, method: string, path: RegExp, schema: string])[] = [
  ['qdrant', 'PUT', /^\/collections\/[^/]+$/, 'CreateCollection'],
  ['qdrant', 'PUT', /\/points(\?|$)/, 'PointInsertOperations'],
  ['qdrant', 'POST', /\/points$/, 'PointRequest'],
  ['qdrant', 'POST', /\/points\/query$/, 'QueryRequest'],
  ['qdrant', 'POST', /\/points\/delete(\?|$)/, 'PointsSelector'],
  ['qdrant', 'POST', /\/points\/count$/, 'CountRequest'],
  ['pinecone', 'POST', /\/indexes$/, 'CreateIndexRequest'],
  ['pinecone', 'POST', /\/vectors\/upsert$/, 'UpsertRequest'],
  ['pinecone', 'POST', /\/query$/, 'QueryRequest'],
  ['pinecone', 'POST', /\/vectors\/delete$/, 'DeleteRequest'],
  ['pinecone', 'POST', /\/describe_index_stats$/, 'DescribeIndexStatsRequest'],
  ['chroma', 'POST', /\/collections$/, 'CreateCollectionPayload'],
  ['chroma', 'POST', /\/upsert$/, 'UpsertCollectionRecordsPayload'],
  ['chroma', 'POST', /\/query$/, 'QueryRequestPayload'],
  ['chroma', 'POST', /\/get$/, 'GetRequestPayload'],
  ['chroma', 'POST', /\/delete$/, 'DeleteCollectionRecordsPayload'],
];

const validators = new Map<string, ValidateFunction>();

/** The schema that speaks of a request, or null for one without a body. Throws for a request with a body that none speaks of. */
export function requestSchema(
  store: string,
  { method, path }: { readonly method: string; readonly path: string },
): string | null {
  if (method === 'GET' || method === 'DELETE') return null;
  const found = bodies.find(([id, verb, pattern]) => id === store && verb === method && pattern.test(path));
  if (found === undefined) throw new Error(`No official schema is known for ${method} ${path} of ${store}.`);
  return found[3];
}

/** What is wrong with a body by the official description; empty when nothing is. */
export function requestFaults(store: string, schema: string, body: unknown): string[] {
  const key = `${store} ${schema}`;
  const validate = validators.get(key) ?? compile(store, schema);
  validators.set(key, validate);
  return validate(body)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`);
}

function compile(store: string, schema: string): ValidateFunction {
  const { $defs } = JSON.parse(readFileSync(new URL(`../specs/${store}-requests.json`, import.meta.url), 'utf8')) as {
    $defs: object;
  };
  return new Ajv2020({ strict: false, allErrors: true }).compile({ $defs, $ref: `#/$defs/${schema}` });
}
