import { outboundReason, RestError } from '#plugin-api';
import type { VectorStoreRegistry } from '../vector-stores/registry.ts';
import type { OpenStore } from './open-vector-store.ts';

export interface VectorStoreTest {
  readonly ok: boolean;
  /** Number of indexes or collections. */
  readonly targets: number;
  readonly milliseconds: number;
  /** A sentence for the page: the result, or the store's error. */
  readonly message: string;
}

export type TestVectorStore = (id: string, signal?: AbortSignal) => Promise<VectorStoreTest>;

const limit = 20_000;

/** Tests a store's saved settings with one real call that lists its indexes or collections. */
export function createTestVectorStore({
  stores,
  openStore,
  now,
}: {
  readonly stores: VectorStoreRegistry;
  readonly openStore: OpenStore;
  readonly now: () => number;
}): TestVectorStore {
  return async (id, signal) => {
    const started = now();
    try {
      const session = await openStore(id, { signal, timeout: limit, retries: false });
      const { length: targets } = await session.list();
      const milliseconds = now() - started;
      return {
        ok: true,
        targets,
        milliseconds,
        message: `Works, ${counted(targets, stores.get(id)?.targetKind ?? 'collection')}, ${String(milliseconds)} ms.`,
      };
    } catch (thrown) {
      if (!(thrown instanceof RestError)) throw thrown;
      return {
        ok: false,
        targets: 0,
        milliseconds: now() - started,
        message: [thrown.message, outboundReason(thrown) ?? ''].join(' ').trim(),
      };
    }
  };
}

/** "1 index", "3 indexes", "no collections". */
export function counted(count: number, kind: 'index' | 'collection'): string {
  const many = kind === 'index' ? 'indexes' : 'collections';
  if (count === 0) return `no ${many}`;
  return count === 1 ? `1 ${kind}` : `${String(count)} ${many}`;
}
