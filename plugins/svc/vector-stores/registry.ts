import { readdir } from 'node:fs/promises';
import type { HooksApi } from '#plugin-api';
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

/** The order of contract 4.7; others follow by name. */
const order = ['pinecone', 'qdrant', 'chroma'];

/** Imports every `<id>.store.ts` of this folder, without the vendors' packages. */
export async function createVectorStoreRegistry({
  hooks,
}: {
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}): Promise<VectorStoreRegistry> {
  const own = await loadStores(import.meta.dirname);
  const all = (): VectorStore[] => checked(hooks.applyFilters('svc_vector_stores', own));
  return { all, get: (id) => all().find((store) => store.id === id) };
}

async function loadStores(directory: string): Promise<VectorStore[]> {
  const names = (await readdir(directory))
    .filter((file) => file.endsWith('.store.ts'))
    .map((file) => file.slice(0, -9));
  const modules = await Promise.all(
    // From this form of the path the compiler sees which files belong to the service.
    names.map((name) => import(`./${name}.store.ts`) as Promise<{ store: VectorStore }>),
  );
  return modules
    .map(({ store }) => store)
    .sort((left, right) => rank(left.id) - rank(right.id) || left.id.localeCompare(right.id));
}

function rank(id: string): number {
  const position = order.indexOf(id);
  return position < 0 ? order.length : position;
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
