import type { HostApi } from '#plugin-api';
import type { OpenStore } from '../../../ai/open-vector-store.ts';
import type { UpsertVectors } from '../../../ai/upsert-vectors.ts';
import type { ServiceContext } from '../../../wiring.ts';
import type { BaseStore } from '../bases/base-store.ts';
import type { SourceQueue, SourceStore } from '../sources/source.ts';

/** What sources are indexed and deleted with. */
export interface IndexParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks' | 'log' | 'content' | 'http' | 'site'>;
  readonly bases: BaseStore;
  readonly sources: SourceStore;
  readonly queue: SourceQueue;
  readonly upsertVectors: UpsertVectors;
  readonly openVectorStore: OpenStore;
  /** Display name of a provider (D6). */
  readonly labelOf: (provider: string) => Promise<string>;
  readonly vectorStores: Pick<ServiceContext['vectorStores'], 'get'>;
}

/** Another node has taken over, or something else was asked of the source: the work is not ours any more. */
export class LeaseLostError extends Error {
  constructor() {
    super('The source is not worked on here any more: something else was asked of it, or another node has taken over.');
  }
}
