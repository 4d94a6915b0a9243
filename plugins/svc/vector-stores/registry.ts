import { createRegistry, type Registry, type RegistryInit } from '../kit/registry.ts';
import { store as chroma } from './chroma.store.ts';
import { store as local } from './local.store.ts';
import { store as pinecone } from './pinecone.store.ts';
import { store as qdrant } from './qdrant.store.ts';
import type { VectorStore } from './vector-store.ts';

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** The available vector stores. Add or remove some; ids must be unique. */
    svc_vector_stores: (stores: readonly VectorStore[]) => readonly VectorStore[];
  }
}

/** All available vector stores: the files of this folder, then the filter `svc_vector_stores`, applied at each call. */
export type VectorStoreRegistry = Registry<VectorStore>;

/** The stores of this folder: those of contract 4.7 in its order, then our own. Their modules do not load the vendors' packages. */
const own: readonly VectorStore[] = [pinecone, qdrant, chroma, local];

/** Reads the filter `svc_vector_stores` at each call. */
export function createVectorStoreRegistry({ hooks }: Pick<RegistryInit<VectorStore>, 'hooks'>): VectorStoreRegistry {
  return createRegistry({
    hooks,
    filter: 'svc_vector_stores',
    noun: 'vector store',
    own,
    findLack: ({ open }) => (typeof open === 'function' ? null : "it needs a function 'open'."),
  });
}
