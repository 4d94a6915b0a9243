import { asRecord, isRecord } from '#plugin-api';
import type { CollectionKey, StoredCollection, StoredRecord } from '../../storage/vector-storage.ts';
import { normalised } from '../../vectors/nearest.ts';
import { Refusal } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { collectionOf, definitionOf, metricOf } from './qdrant-collections.ts';
import { readFilter } from './qdrant-filter.ts';
import { givenId, storedId } from './qdrant-ids.ts';
import { formatError, objectBody, ok, qdrantError, wrongInput } from './qdrant-reply.ts';

export const collectionKey = ({ id }: StoredCollection): CollectionKey => ({ collection: id, namespace: '' });

/**
 * A vector as the collection keeps it: of its dimension, in length 1 where distances are cosines.
 *
 * @throws Refusal in Qdrant's shape.
 */
export function readVector(value: unknown, collection: StoredCollection): Float32Array {
  if (isRecord(value)) throw wrongInput(`Not existing vector name error: ${Object.keys(value)[0] ?? ''}`);
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'number'))
    throw formatError('data did not match any variant of untagged enum VectorStruct');
  const { size } = definitionOf(collection).vectors;
  if (value.length !== size)
    throw wrongInput(`Vector dimension error: expected dim: ${String(size)}, got ${String(value.length)}`);
  return metricOf(collection) === 'cosine' ? normalised(value) : Float32Array.from(value);
}

/** The status of the change, in the form the caller requested. */
function done(request: FakeRequest): FakeResponse {
  return ok({ operation_id: request.now, status: request.query.get('wait') === 'true' ? 'completed' : 'acknowledged' });
}

async function upsert(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  await request.storage.put(
    collectionKey(collection),
    readPoints(objectBody(request.body)).map(({ id, vector, payload }) => {
      const stored = storedId(id);
      return {
        id: stored,
        order: stored,
        vector: readVector(vector, collection),
        content: asRecord(payload),
      };
    }),
  );
  return done(request);
}

interface GivenPoint {
  readonly id?: unknown;
  readonly vector?: unknown;
  readonly payload?: unknown;
}

/** Points one by one, or in columns (`batch`). */
function readPoints(body: Readonly<Record<string, unknown>>): GivenPoint[] {
  const { points, batch } = body;
  if (Array.isArray(points)) return points.map((point: unknown): GivenPoint => asRecord(point));
  if (!isRecord(batch) || !Array.isArray(batch['ids']) || !Array.isArray(batch['vectors']))
    throw formatError('data did not match any variant of untagged enum PointInsertOperations');
  const { ids, vectors, payloads } = batch as { ids: unknown[]; vectors: unknown[]; payloads?: unknown };
  if (vectors.length !== ids.length) throw wrongInput('number of ids and vectors must be equal');
  return ids.map((id, index) => ({
    id,
    vector: vectors[index],
    payload: Array.isArray(payloads) ? (payloads[index] as unknown) : null,
  }));
}

/** What is shown of a payload: all, some keys, or nothing. */
function payloadOf(
  selector: unknown,
  payload: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | null {
  if (selector === true) return payload;
  const include = Array.isArray(selector)
    ? selector
    : isRecord(selector) && Array.isArray(selector['include'])
      ? selector['include']
      : null;
  if (include) return Object.fromEntries(Object.entries(payload).filter(([key]) => include.includes(key)));
  const exclude = isRecord(selector) && Array.isArray(selector['exclude']) ? selector['exclude'] : null;
  return exclude && Object.fromEntries(Object.entries(payload).filter(([key]) => !exclude.includes(key)));
}

/** A point as answers show it. `usual`: whether the payload comes unasked. */
export function shown(
  record: StoredRecord,
  body: Readonly<Record<string, unknown>>,
  usual: boolean,
): Record<string, unknown> {
  const payload = payloadOf(body['with_payload'] ?? usual, record.content);
  return {
    id: givenId(record.id),
    ...(payload && { payload }),
    ...(body['with_vector'] === true && { vector: Array.from(record.vector) }),
  };
}

async function retrieve(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  const body = objectBody(request.body);
  if (!Array.isArray(body['ids'])) throw formatError('missing field `ids`');
  const ids = body['ids'].map((id: unknown) => storedId(id));
  const found = new Map(
    (await request.storage.get(collectionKey(collection), ids)).map((record) => [record.id, record]),
  );
  return ok(ids.flatMap((id) => found.get(id) ?? []).map((record) => shown(record, body, true)));
}

async function retrieveOne(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  const { id = '' } = request.params;
  const [record] = await request.storage.get(collectionKey(collection), [storedId(/^\d+$/.test(id) ? Number(id) : id)]);
  if (!record) throw new Refusal(qdrantError(404, `Not found: Point with id ${id} does not exists!`));
  return ok(shown(record, { with_payload: true, with_vector: true }, true));
}

async function scroll(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  const body = objectBody(request.body);
  const limit = typeof body['limit'] === 'number' ? body['limit'] : 10;
  if (!Number.isInteger(limit) || limit < 1) throw wrongInput('Limit cannot be 0');
  const accepts = readFilter(body['filter']);
  const from = body['offset'] === undefined || body['offset'] === null ? '' : storedId(body['offset']);
  const found: StoredRecord[] = [];
  for await (const page of request.storage.scan(collectionKey(collection))) {
    found.push(...page.filter((record) => record.order >= from && accepts(record)));
    if (found.length > limit) break;
  }
  const next = found[limit];
  return ok({
    points: found.slice(0, limit).map((record) => shown(record, body, true)),
    next_page_offset: next ? givenId(next.id) : null,
  });
}

async function count(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  return ok({
    count: (await selected(request, collection, { filter: isRecord(request.body) ? request.body['filter'] : null }))
      .length,
  });
}

/** The points that ids or a filter name. */
async function selected(
  request: FakeRequest,
  collection: StoredCollection,
  selector: Readonly<Record<string, unknown>>,
): Promise<StoredRecord[]> {
  if (Array.isArray(selector['points']))
    return [
      ...(await request.storage.get(
        collectionKey(collection),
        selector['points'].map((id: unknown) => storedId(id)),
      )),
    ];
  if (!('filter' in selector)) throw formatError('data did not match any variant of untagged enum PointsSelector');
  const accepts = readFilter(selector['filter']);
  const found: StoredRecord[] = [];
  for await (const page of request.storage.scan(collectionKey(collection))) found.push(...page.filter(accepts));
  return found;
}

async function remove(request: FakeRequest): Promise<FakeResponse> {
  const collection = await collectionOf(request);
  await request.storage.together(async () => {
    const records = await selected(request, collection, objectBody(request.body));
    await request.storage.remove(
      collectionKey(collection),
      records.map(({ id }) => id),
    );
  });
  return done(request);
}

type Payload = Readonly<Record<string, unknown>>;

/** Changes the payload of the points that are named. */
function changePayload(change: (payload: Payload, body: Payload) => Payload): FakeRoute['handle'] {
  return async (request) => {
    const collection = await collectionOf(request);
    const body = objectBody(request.body);
    await request.storage.together(async () => {
      const records = await selected(request, collection, body);
      await request.storage.put(
        collectionKey(collection),
        records.map((record) => ({
          id: record.id,
          order: record.order,
          vector: record.vector,
          content: change(record.content, body),
        })),
      );
    });
    return done(request);
  };
}

const given = (body: Payload): Payload => asRecord(body['payload']);
const without = (payload: Payload, keys: unknown): Payload =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => !(Array.isArray(keys) && keys.includes(key))));

/** A path below the points of a collection. */
export const pointsPath = (rest: string): RegExp => new RegExp(`^/collections/(?<collection>[^/]+)/points${rest}$`);

export const qdrantPointRoutes: readonly FakeRoute[] = [
  { method: 'PUT', path: pointsPath(''), handle: upsert },
  { method: 'POST', path: pointsPath(''), handle: retrieve },
  { method: 'POST', path: pointsPath('/scroll'), handle: scroll },
  { method: 'POST', path: pointsPath('/count'), handle: count },
  { method: 'POST', path: pointsPath('/delete'), handle: remove },
  {
    method: 'POST',
    path: pointsPath('/payload'),
    handle: changePayload((payload, body) => ({ ...payload, ...given(body) })),
  },
  { method: 'PUT', path: pointsPath('/payload'), handle: changePayload((_, body) => given(body)) },
  {
    method: 'POST',
    path: pointsPath('/payload/delete'),
    handle: changePayload((payload, body) => without(payload, body['keys'])),
  },
  { method: 'POST', path: pointsPath('/payload/clear'), handle: changePayload(() => ({})) },
  { method: 'GET', path: pointsPath('/(?<id>[0-9a-fA-F-]+)'), handle: retrieveOne },
];
