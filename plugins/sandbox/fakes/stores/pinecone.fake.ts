import { sandboxKey } from '../../fake.ts';
import type { FakeStore, FakeResponse, FakeRequest } from '../../fake.ts';
import { pineconeDataRoutes } from './pinecone-data.ts';
import { pineconeIndexRoutes } from './pinecone-indexes.ts';
import { controlError, dataError } from './pinecone-reply.ts';

const bodyLimit = 2 * 1024 * 1024;

/**
 * Pinecone's control plane at its root, and the data plane of each index below `/hosts/<index>`, which is the address
 * the control plane returns.
 */
export const fakePinecone: FakeStore = {
  id: 'pinecone',
  label: 'Pinecone',
  bodyLimit,
  settings: (origin) => ({ api_key: sandboxKey, url: `${origin}/pinecone` }),
  refuse: (request) => {
    if (request.headers['api-key'] === sandboxKey) return null;
    const reply = onData(request)
      ? dataError(401, 'Invalid API Key')
      : controlError(401, 'UNAUTHENTICATED', 'Invalid API Key');
    return { ...reply, headers: { ...reply.headers, 'x-pinecone-auth-rejected-reason': 'Wrong API key' } };
  },
  // Changing and removing an index is never hindered by its name.
  nameOf: (request) => (onData(request) || request.method === 'GET' ? (request.params['index'] ?? '') : ''),
  errors: {
    unknownPath: (): FakeResponse => controlError(404, 'NOT_FOUND', 'Not found'),
    badJson: () => dataError(400, 'Invalid JSON payload received.'),
    tooLarge: (length) =>
      dataError(
        400,
        `Request size ${megabytes(length)}MB exceeds the maximum supported size of ${megabytes(bodyLimit)}MB`,
      ),
    rateLimited: (_, retryAfter) => {
      const reply = dataError(
        429,
        "Request failed. You've reached the max write units per second for this index. Try again later.",
      );
      return { ...reply, headers: { ...reply.headers, 'retry-after': String(retryAfter) } };
    },
    serverError: () => dataError(500, 'Internal server error'),
  },
  routes: [...pineconeIndexRoutes, ...pineconeDataRoutes],
};

function onData({ path }: FakeRequest): boolean {
  return path.startsWith('/hosts/');
}

function megabytes(bytes: number): string {
  return String(Math.ceil(bytes / 1024 / 1024));
}
