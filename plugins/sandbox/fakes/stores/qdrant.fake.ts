import { bearer, jsonResponse, sandboxKey } from '../../fake.ts';
import type { FakeStore, FakeResponse } from '../../fake.ts';
import { qdrantCollectionRoutes } from './qdrant-collections.ts';
import { qdrantPointRoutes } from './qdrant-points.ts';
import { qdrantError, qdrantVersion } from './qdrant-reply.ts';
import { qdrantSearchRoutes } from './qdrant-search.ts';

const bodyLimit = 32 * 1024 * 1024;

const plain = (status: number, text: string): FakeResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  chunks: [text],
});

/** Qdrant's REST interface: collections of one vector without a name, points, search. */
export const fakeQdrant: FakeStore = {
  id: 'qdrant',
  label: 'Qdrant',
  bodyLimit,
  settings: (origin) => ({ api_key: sandboxKey, url: origin }),
  refuse: ({ headers }) => {
    const key = headers['api-key'] ?? bearer(headers);
    if (key === sandboxKey) return null;
    return plain(
      401,
      key === '' ? 'Must provide an API key or an Authorization bearer token' : 'Invalid API key or JWT',
    );
  },
  // Making and removing a collection is never hindered by its name.
  nameOf: ({ method, path, params: { collection = '' } }) =>
    /^\/collections\/[^/]+$/.test(path) && method !== 'GET' ? '' : collection,
  errors: {
    unknownPath: () => ({ status: 404, headers: {}, chunks: [''] }),
    badJson: () => qdrantError(400, 'Format error in JSON body: key must be a string at line 1 column 2'),
    tooLarge: (length) =>
      qdrantError(
        400,
        `Payload error: JSON payload (${String(length)} bytes) is larger than allowed (limit: ${String(bodyLimit)} bytes).`,
      ),
    rateLimited: (_, retryAfter) =>
      qdrantError(
        429,
        `Rate limiting exceeded: Write rate limit exceeded: Operation requires more tokens than available. ` +
          `Retry after ${String(retryAfter)}s`,
        { 'retry-after': String(retryAfter) },
      ),
    serverError: () =>
      qdrantError(500, 'Service internal error: No space left on device: WAL buffer size exceeds available disk space'),
  },
  routes: [
    {
      method: 'GET',
      path: /^\/?$/,
      handle: () =>
        jsonResponse(200, { title: 'qdrant - vector search engine', version: qdrantVersion, commit: 'sandbox' }),
    },
    {
      method: 'GET',
      path: /^\/(?:healthz|readyz|livez)$/,
      handle: ({ path }) => plain(200, path === '/readyz' ? 'all shards are ready' : `${path.slice(1)} check passed`),
    },
    ...qdrantCollectionRoutes,
    ...qdrantSearchRoutes,
    ...qdrantPointRoutes,
  ],
};
