import type { HostApi } from '#plugin-api';
import type { VectorStore, VectorStoreSettings } from '../vector-stores/vector-store.ts';
import { createConfiguredSettings, type ConfiguredSettings } from './configured.ts';
import { vectorStoreOption } from './names.ts';
import { createSecretReader } from './secret-reader.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The settings for a call to a vector store, after schema defaults, with secrets in plain text. */
    svc_vector_store_settings: (
      settings: Readonly<Record<string, unknown>>,
      storeId: string,
    ) => Readonly<Record<string, unknown>>;
  }
}

/** The part of the vector store registry that settings use. */
export interface VectorStoreSource {
  get(id: string): VectorStore | undefined;
  all(): readonly VectorStore[];
}

/** Settings of the vector stores, one option for each. Every node sees a change within a second. */
export interface VectorStoreSettingsStore extends ConfiguredSettings<VectorStore> {
  effective(id: string): Promise<VectorStoreSettings>;
}

export interface VectorStoreSettingsParts {
  readonly host: Pick<HostApi, 'options' | 'secrets' | 'hooks' | 'http' | 'log'>;
  readonly stores: VectorStoreSource;
}

export function createVectorStoreSettings({ host, stores }: VectorStoreSettingsParts): VectorStoreSettingsStore {
  return createConfiguredSettings<VectorStore>({
    host,
    read: createSecretReader(host),
    option: vectorStoreOption,
    find: (id) => stores.get(id),
    filters: ['svc_sandbox_vector_store_settings', 'svc_vector_store_settings'],
  });
}
