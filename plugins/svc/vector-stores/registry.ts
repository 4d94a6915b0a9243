import type { HooksApi } from '#plugin-api';
import { store as chroma } from './chroma.store.ts';
import { store as pinecone } from './pinecone.store.ts';
import { store as qdrant } from './qdrant.store.ts';
import type { VectorStore } from './vector-store.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The available vector stores. Add or remove some; ids must be unique. */
    svc_vector_stores: (stores: readonly VectorStore[]) => readonly VectorStore[];
  }
}

/** All available vector stores: the files of this folder, then the filter `svc_vector_stores`, applied at each call. */
export interface VectorStoreRegistry {
  all(): VectorStore[];
  get(id: string): VectorStore | undefined;
}

/** The stores of this folder, in the order of contract 4.7. Their modules do not load the vendors' packages. */
const own: readonly VectorStore[] = [pinecone, qdrant, chroma];

/** Reads the filter `svc_vector_stores` at each call. */
export async function createVectorStoreRegistry({
  hooks,
}: {
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}): Promise<VectorStoreRegistry> {
  const all = (): VectorStore[] => checked(hooks.applyFilters('svc_vector_stores', own));
  return { all, get: (id) => all().find((store) => store.id === id) };
}

/** A filter may return anything: keeps complete stores, the first for each id. */
function checked(stores: unknown): VectorStore[] {
  if (!Array.isArray(stores)) return [];
  const byId = new Map<string, VectorStore>();
  for (const store of stores as Partial<VectorStore>[]) {
    const whole =
      /^[a-z0-9]+$/.test(store.id ?? '') &&
      typeof store.label === 'string' &&
      store.settings?.properties !== undefined &&
      typeof store.open === 'function';
    if (whole && !byId.has(store.id ?? '')) byId.set(store.id ?? '', store as VectorStore);
  }
  return [...byId.values()];
}
