import { Pinecone } from '@pinecone-database/pinecone';
import { QdrantClient } from '@qdrant/js-client-rest';
import { ChromaClient } from 'chromadb';
import type { EmbeddingFunction } from 'chromadb';
import type { Database } from '../../../host/database/database.ts';
import sandbox from '../../../plugins/sandbox/index.ts';
import { createDatabaseStorage } from '../../../plugins/sandbox/storage/database-storage.ts';
import { createMemoryStorage } from '../../../plugins/sandbox/storage/memory-storage.ts';
import type { VectorStorage } from '../../../plugins/sandbox/storage/vector-storage.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import type { OpenDatabase } from '../../helpers/dialects.ts';

export const pinecone = (url: string, apiKey = 'sandbox'): Pinecone =>
  new Pinecone({ apiKey, controllerHostUrl: `${url}/pinecone`, maxRetries: 0 });

/** The key goes in a header: the client warns of a key sent without TLS when it is given as one. */
export const qdrant = (url: string, key = 'sandbox'): QdrantClient =>
  new QdrantClient({ url, checkCompatibility: false, headers: { 'api-key': key } });

export const noEmbeddings = null as unknown as EmbeddingFunction;

export function chroma(url: string, headers: Record<string, string> = {}): ChromaClient {
  const { hostname, port } = new URL(url);
  return new ChromaClient({ host: hostname, port: Number(port), ssl: false, headers });
}

async function migrated(open: OpenDatabase): Promise<Database> {
  const database = await open();
  await database.migrate('sandbox', sandbox.migrations ?? []);
  return database;
}

/** Runs a suite in memory and on both databases. `open` called twice: two nodes, the same storage. */
export function describeStorages(title: string, define: (open: () => Promise<VectorStorage>) => void): void {
  describe(`${title} (memory)`, () => {
    let storage: VectorStorage;
    beforeEach(() => {
      storage = createMemoryStorage();
    });
    define(() => Promise.resolve(storage));
  });
  describeDialects(title, (open) => {
    define(async () => createDatabaseStorage(await migrated(open)));
  });
}

/** What a promise rejects with; fails when it does not. */
export async function failure(
  promise: Promise<unknown>,
): Promise<Error & { readonly status?: number; readonly data?: unknown }> {
  const outcome: unknown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('It was expected to fail.');
}
