import { bearer, jsonResponse, sandboxKey } from '../../fake.ts';
import type { FakeStore, FakeResponse, FakeRequest } from '../../fake.ts';
import { chromaCollectionRoutes, isUuid } from './chroma-collections.ts';
import { chromaRecordRoutes, maxBatchSize } from './chroma-records.ts';
import { chromaError } from './chroma-reply.ts';

/** Chroma's REST interface v2. A server of one's own asks for no key; a wrong one is refused all the same. */
export const fakeChroma: FakeStore = {
  id: 'chroma',
  label: 'Chroma',
  bodyLimit: 40 * 1024 * 1024,
  settings: (origin) => ({ api_key: sandboxKey, url: origin }),
  refuse: ({ headers }) => {
    const key = headers['x-chroma-token'] ?? (headers.authorization === undefined ? sandboxKey : bearer(headers));
    return key === sandboxKey ? null : chromaError(401, 'AuthError', 'Unauthorized');
  },
  nameOf,
  errors: {
    unknownPath: ({ path }): FakeResponse =>
      path.startsWith('/api/v1')
        ? chromaError(410, 'Unimplemented', 'The v1 API is deprecated. Please use /v2 apis')
        : { status: 404, headers: {}, chunks: [''] },
    badJson: () =>
      chromaError(
        400,
        'InvalidArgumentError',
        'Failed to parse the request body as JSON: key must be a string at line 1 column 2',
      ),
    tooLarge: () => ({
      status: 413,
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      chunks: ['length limit exceeded'],
    }),
    rateLimited: (_, retryAfter) => {
      const reply = chromaError(429, 'RateLimitError', 'Rate limit exceeded');
      return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfter) } };
    },
    serverError: () =>
      chromaError(500, 'InternalError', 'error in compactor: Error executing plan: no space left on device'),
  },
  routes: [
    // Nanoseconds, written out, as they are more than a number holds exactly.
    {
      method: 'GET',
      path: /^\/api\/v2\/heartbeat$/,
      handle: ({ now }) => ({ ...jsonResponse(200, null), chunks: [`{"nanosecond heartbeat":${String(now)}000000}`] }),
    },
    { method: 'GET', path: /^\/api\/v2\/version$/, handle: () => jsonResponse(200, '1.0.0') },
    {
      method: 'GET',
      path: /^\/api\/v2\/pre-flight-checks$/,
      handle: () => jsonResponse(200, { max_batch_size: maxBatchSize, supports_base64_encoding: true }),
    },
    {
      method: 'GET',
      path: /^\/api\/v2\/healthcheck$/,
      handle: () => jsonResponse(200, { is_executor_ready: true, is_log_client_ready: true }),
    },
    {
      method: 'GET',
      path: /^\/api\/v2\/auth\/identity$/,
      handle: () => jsonResponse(200, { user_id: '', tenant: 'default_tenant', databases: ['default_database'] }),
    },
    {
      method: 'POST',
      path: /^\/api\/v2\/reset$/,
      handle: () => chromaError(403, 'ChromaError', 'Reset is disabled by config'),
    },
    ...chromaCollectionRoutes,
    ...chromaRecordRoutes,
  ],
};

/** Records are addressed by the collection's id, collections by their name; making and removing one is never hindered. */
async function nameOf({ method, params: { collection = '' }, storage }: FakeRequest): Promise<string> {
  if (method === 'DELETE' || !isUuid(collection)) return method === 'DELETE' ? '' : collection;
  return (await storage.findCollection('chroma', { id: collection.toLowerCase() }))?.name ?? '';
}
