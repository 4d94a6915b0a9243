import type { HostApi } from '#plugin-api';
import type { VectorStoreSettings } from '../vector-stores/vector-store.ts';
import type { VectorStoreRegistry } from '../vector-stores/registry.ts';

/** What vector stores are asked with. */
export interface VectorServices {
  readonly stores: VectorStoreRegistry;
  readonly storeSettings: {
    /** Saved settings, secrets in plain text; empty when nothing was saved. */
    effective(id: string): Promise<VectorStoreSettings>;
  };
  readonly host: Pick<HostApi, 'clock' | 'log'>;
  /** Default: undici's, one pool of kept connections per process. */
  readonly fetch?: typeof globalThis.fetch;
  /** 0 up to 1, for the jitter of waits. Default Math.random. */
  readonly random?: () => number;
}
