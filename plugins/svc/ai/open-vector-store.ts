import { RestError, isUrl, type HostApi } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import { batchesOf } from '../vector-stores/batches.ts';
import {
  asVectorStoreError,
  type NamespaceChoice,
  type OpenVectorStore,
  type VectorRecord,
  type VectorStore,
  type VectorStoreSettings,
  type VectorTarget,
} from '../vector-stores/vector-store.ts';
import { withRetries } from './retry.ts';
import { sharedFetch } from './undici-fetch.ts';
import { vectorStoreFailure } from './upstream-failure.ts';
import type { VectorStoreRegistry } from '../vector-stores/registry.ts';

/**
 * A configured store. Operations have further tries (D9) where they may be repeated, all but `create` and `remove`, and
 * fail with the errors of D5 as RestError.
 */
export interface VectorStoreSession extends Pick<
  OpenVectorStore,
  'list' | 'describe' | 'create' | 'remove' | 'query' | 'fetch' | 'deleteIds' | 'deleteWhere' | 'count'
> {
  readonly store: VectorStore;
  /**
   * Writes records in batches within the store's limits, one after the other.
   *
   * @throws RestError with `data.upserted_count`, how many were written before it failed (D15).
   */
  write(target: string, records: readonly VectorRecord[], options: NamespaceChoice): Promise<void>;
}

export interface OpenVectorStoreInit {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds one request may take, in place of the store's setting. */
  readonly timeout?: number;
  /** False: one try each, for pages that somebody waits for. */
  readonly retries?: boolean;
}

export type OpenStore = (id: string, init?: OpenVectorStoreInit) => Promise<VectorStoreSession>;

const usualTimeout = 30_000;

/** Opens vector stores by their ids. @throws RestError 400 for one that is unknown or not configured. */
export function createOpenStore(services: VectorServices): OpenStore {
  return async (id, init = {}) => {
    const store = services.stores.get(id);
    if (store === undefined) throw unknownStore(id);
    const settings = await services.storeSettings.effective(id);
    refuseUnconfigured(store, settings);
    const seconds = settings['timeout'];
    const timeout = init.timeout ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : usualTimeout);
    const { clock, log } = services.host;
    const { signal } = init;
    const opened = store.open({
      settings,
      fetch: services.fetch ?? sharedFetch,
      clock,
      log,
      timeout,
      ...(signal !== undefined && { signal }),
    });

    const mapped = <T>(target: string, operation: () => Promise<T>): Promise<T> =>
      operation().catch((thrown: unknown) => {
        const error = asVectorStoreError(thrown);
        throw error === null ? thrown : vectorStoreFailure(error, { store, target, limit: timeout });
      });
    const repeated = <T>(target: string, operation: () => Promise<T>): Promise<T> =>
      mapped(target, () =>
        init.retries === false
          ? operation()
          : withRetries(operation, { services, provider: id, deadline: clock.now() + timeout, signal }),
      );
    return sessionOf({ store, opened, mapped, repeated });
  };
}

interface SessionParts {
  readonly store: VectorStore;
  readonly opened: OpenVectorStore;
  readonly mapped: <T>(target: string, operation: () => Promise<T>) => Promise<T>;
  readonly repeated: <T>(target: string, operation: () => Promise<T>) => Promise<T>;
}

function sessionOf({ store, opened, mapped, repeated }: SessionParts): VectorStoreSession {
  return {
    store,
    list: () => repeated('', () => opened.list()),
    describe: (target) => repeated(target, () => opened.describe(target)),
    create: (target) => mapped(target.name, () => opened.create(target)),
    remove: (target) => mapped(target, () => opened.remove(target)),
    query: (target, query) => repeated(target, () => opened.query(target, query)),
    fetch: (target, ids, options) => repeated(target, () => opened.fetch(target, ids, options)),
    deleteIds: (target, ids, options) => repeated(target, () => opened.deleteIds(target, ids, options)),
    deleteWhere: (target, filter, options) => repeated(target, () => opened.deleteWhere(target, filter, options)),
    count: (target, options) => repeated(target, () => opened.count(target, options)),
    async write(target, records, options) {
      let written = 0;
      try {
        const limits = await repeated(target, () => opened.writeLimits());
        for (const batch of batchesOf(records, limits, opened.sizeOf)) {
          await repeated(target, () => opened.write(target, batch, options));
          written += batch.length;
        }
      } catch (thrown) {
        throw thrown instanceof RestError ? withCount(thrown, written, records.length) : thrown;
      }
    },
  };
}

/** The same error, which says as well how many vectors are in the store now (D15). */
function withCount(
  { code, message, status, data, headers, cause }: RestError,
  written: number,
  all: number,
): RestError {
  const said = `${message} ${String(written)} of ${String(all)} vectors were written; send the same ids again to complete them.`;
  return new RestError({
    code,
    status,
    message: said,
    data: { ...(data as Readonly<Record<string, unknown>> | undefined), upserted_count: written },
    headers,
    cause,
  });
}

function unknownStore(id: string): RestError {
  const message = `There is no vector store named ${id}.`;
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: 'Invalid parameter(s): provider',
    data: { params: { provider: message } },
  });
}

/** @throws RestError `rest_svc_provider_not_configured` that names what is missing or unusable (D5). */
function refuseUnconfigured(store: VectorStore, settings: VectorStoreSettings): void {
  const { url, api_key: key } = settings;
  const missing = store.required.filter(
    (name) => settings[name] === undefined || settings[name] === null || settings[name] === '',
  );
  const unusable: string[] = [];
  if (typeof url === 'string' && url !== '' && !(isUrl(url) && /^https?:$/.test(new URL(url).protocol)))
    unusable.push('url');
  if (typeof key === 'string' && key !== '' && !/^[\x21-\x7e]+$/.test(key)) unusable.push('api_key');
  const names = [...missing, ...unusable];
  if (names.length === 0) return;
  throw errors.provider_not_configured({
    values: {
      provider: store.label,
      missing: names.map((name) => store.settings.properties[name]?.title ?? name).join(' and '),
    },
    data: { provider: store.id, provider_status: null },
  });
}

/** What vector stores are asked with. */
interface VectorServices {
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

interface DimensionQuestion {
  readonly store: Pick<VectorStore, 'id'>;
  readonly target: VectorTarget;
  /** The embedding model as it was asked for. */
  readonly model: string;
  readonly vector: readonly number[];
}

/** @throws RestError 400 `rest_svc_vector_dimension_mismatch` that names both (D5). A target that does not know its own takes any. */
export function checkDimension({ store, target, model, vector }: DimensionQuestion): void {
  const { name, dimension } = target;
  if (dimension === null || dimension === vector.length) return;
  throw errors.vector_dimension_mismatch({
    values: { target: name, expected: dimension, model, actual: vector.length },
    data: { provider: store.id, target_dimension: dimension, model_dimension: vector.length },
  });
}
