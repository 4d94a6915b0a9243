import { RestError } from '#plugin-api';
import type { VectorStoreRegistry } from '../vector-stores/registry.ts';
import type { OpenStore } from './open-vector-store.ts';

export interface VectorStoreTest {
  readonly ok: boolean;
  /** Indexes or collections it holds. */
  readonly targets: number;
  readonly milliseconds: number;
  /** One sentence for a person: what works, or the store's own message. */
  readonly message: string;
}

export type TestVectorStore = (id: string, signal?: AbortSignal) => Promise<VectorStoreTest>;

const limit = 20_000;

/** Tries a store's saved settings with a real call, once: its indexes or collections are listed. */
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
      return { ok: false, targets: 0, milliseconds: now() - started, message: thrown.message };
    }
  };
}

/** "1 index", "3 indexes", "no collections". */
export function counted(count: number, kind: 'index' | 'collection'): string {
  const many = kind === 'index' ? 'indexes' : 'collections';
  if (count === 0) return `no ${many}`;
  return count === 1 ? `1 ${kind}` : `${String(count)} ${many}`;
}
