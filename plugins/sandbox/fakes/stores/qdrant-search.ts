import { isRecord } from '#plugin-api';
import type { StoredCollection } from '../../storage/vector-storage.ts';
import { greaterIsNearer, nearest } from '../../vectors/nearest.ts';
import { Refusal } from '../../fake.ts';
import type { FakeResponse, FakeRequest, FakeRoute } from '../../fake.ts';
import { collectionOf, metricOf } from './qdrant-collections.ts';
import { readFilter } from './qdrant-filter.ts';
import { givenId, storedId } from './qdrant-ids.ts';
import { collectionKey, readVector, shown, pointsPath } from './qdrant-points.ts';
import { formatError, objectBody, ok, qdrantError, validationError } from './qdrant-reply.ts';

type Body = Readonly<Record<string, unknown>>;

interface Target {
  readonly vector: Float32Array;
  /** The point a search began at is not among its results. */
  readonly except: string | null;
}

/** The points nearest to a vector, or to an existing point. */
async function find(
  request: FakeRequest,
  { collection, body, query }: { collection: StoredCollection; body: Body; query: unknown },
): Promise<unknown[]> {
  const limit = numberAt(body, 'limit', { usual: 10, least: 1 });
  const offset = numberAt(body, 'offset', { usual: 0, least: 0 });
  const filter = readFilter(body['filter']);
  const { vector, except } = await target(request, collection, query);
  const metric = metricOf(collection);
  const hits = await nearest({
    pages: request.storage.scan(collectionKey(collection)),
    vector,
    metric,
    limit: limit + offset,
    accepts: (record) => record.id !== except && filter(record),
  });
  const threshold = body['score_threshold'];
  const near = (score: number): boolean =>
    typeof threshold !== 'number' || (greaterIsNearer(metric) ? score >= threshold : score <= threshold);
  return hits
    .slice(offset)
    .filter(({ score }) => near(score))
    .map(({ record, score }) => {
      const { id, ...rest } = shown(record, body, false);
      return { id, version: 0, score: Math.fround(score), ...rest };
    });
}

async function target(request: FakeRequest, collection: StoredCollection, query: unknown): Promise<Target> {
  const wanted = isRecord(query) ? query['nearest'] : query;
  if (Array.isArray(wanted) || isRecord(wanted)) return { vector: readVector(wanted, collection), except: null };
  if (typeof wanted !== 'string' && typeof wanted !== 'number')
    throw formatError('The sandbox answers queries by a vector, by a point, and by nothing at all.');
  const id = storedId(wanted);
  const [record] = await request.storage.get(collectionKey(collection), [id]);
  if (!record) throw new Refusal(qdrantError(404, `Not found: No point with id ${String(givenId(id))} found`));
  return { vector: record.vector, except: id };
}

function numberAt(body: Body, name: string, { usual, least }: { usual: number; least: number }): number {
  const value = body[name] ?? usual;
  if (typeof value !== 'number' || !Number.isInteger(value)) throw formatError(`${name}: invalid type, expected usize`);
  if (value < least)
    throw validationError(`${name}: value ${String(value)} invalid, must be ${String(least)} or larger`);
  return value;
}

/** Without a query the points come in the order of their ids, each with the score 0. */
async function inOrder(request: FakeRequest, collection: StoredCollection, body: Body): Promise<unknown[]> {
  const limit = numberAt(body, 'limit', { usual: 10, least: 1 });
  const offset = numberAt(body, 'offset', { usual: 0, least: 0 });
  const accepts = readFilter(body['filter']);
  const found = [];
  for await (const page of request.storage.scan(collectionKey(collection))) {
    found.push(...page.filter(accepts));
    if (found.length >= limit + offset) break;
  }
  return found.slice(offset, offset + limit).map((record) => ({ version: 0, score: 0, ...shown(record, body, false) }));
}

async function query(request: FakeRequest, body: Body): Promise<{ points: unknown[] }> {
  const collection = await collectionOf(request);
  const wanted = body['query'];
  if (wanted === undefined || wanted === null) return { points: await inOrder(request, collection, body) };
  return { points: await find(request, { collection, body, query: wanted }) };
}

async function search(request: FakeRequest, body: Body): Promise<unknown[]> {
  const collection = await collectionOf(request);
  if (body['limit'] === undefined) throw formatError('missing field `limit`');
  return find(request, { collection, body, query: body['vector'] });
}

/** Answers the entries of `searches` one after the other. */
function batch(one: (request: FakeRequest, body: Body) => Promise<unknown>): FakeRoute['handle'] {
  return async (request): Promise<FakeResponse> => {
    const { searches } = objectBody(request.body);
    if (!Array.isArray(searches)) throw formatError('missing field `searches`');
    const results: unknown[] = [];
    for (const entry of searches) results.push(await one(request, objectBody(entry)));
    return ok(results);
  };
}

export const qdrantSearchRoutes: readonly FakeRoute[] = [
  {
    method: 'POST',
    path: pointsPath('/query'),
    handle: async (request) => ok(await query(request, objectBody(request.body))),
  },
  { method: 'POST', path: pointsPath('/query/batch'), handle: batch(query) },
  {
    method: 'POST',
    path: pointsPath('/search'),
    handle: async (request) => ok(await search(request, objectBody(request.body))),
  },
  { method: 'POST', path: pointsPath('/search/batch'), handle: batch(search) },
];
