import { RestError, isUrl, type HostApi } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import { splitBatches } from '../vector-stores/batches.ts';
import {
  asVectorStoreError,
  type NamespaceChoice,
  type OpenVectorStore,
  type VectorRecord,
  type VectorStore,
  type VectorStoreSettings,
  type VectorTarget,
} from '../vector-stores/vector-store.ts';
import { unreadableSecrets } from './provider-connection.ts';
import { withRetries } from './retry.ts';
import type { UpstreamHttp } from './upstream-http.ts';
import { vectorStoreFailure } from './upstream-failure.ts';
import type { VectorStoreRegistry } from '../vector-stores/registry.ts';

/**
 * A configured store. All operations but `create` and `remove` are retried (D9). They fail with the errors of D5 as
 * RestError.
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
  /** Milliseconds one request may take. Default: the store's setting. */
  readonly timeout?: number;
  /** False for pages that should respond quickly. Default true. */
  readonly retries?: boolean;
}

export type OpenStore = (id: string, init?: OpenVectorStoreInit) => Promise<VectorStoreSession>;

const defaultTimeout = 30_000;

/** Opens vector stores by id. @throws RestError 400 for an unknown or unconfigured store. */
export function createOpenStore(services: VectorServices): OpenStore {
  return async (id, init = {}) => {
    const store = services.stores.get(id);
    if (store === undefined) throw unknownStore(id);
    const settings = await services.storeSettings.effective(id);
    const unreadable = ((await services.storeSettings.unreadable?.(store)) ?? []).filter((name) => !settings[name]);
    if (unreadable.length > 0) throw unreadableSecrets(store, unreadable);
    refuseUnconfigured(store, settings);
    const seconds = settings['timeout'];
    const timeout = init.timeout ?? (typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : defaultTimeout);
    const { clock, log, database } = services.host;
    const { signal } = init;
    const opened = await store.open({
      settings,
      ...services.upstream.accessTo(settings.url),
      database,
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
    const retried = <T>(target: string, operation: () => Promise<T>): Promise<T> =>
      mapped(target, () =>
        init.retries === false
          ? operation()
          : withRetries(operation, { services, provider: id, deadline: clock.now() + timeout, signal }),
      );
    return sessionOf({ store, opened, mapped, retried });
  };
}

interface SessionParts {
  readonly store: VectorStore;
  readonly opened: OpenVectorStore;
  readonly mapped: <T>(target: string, operation: () => Promise<T>) => Promise<T>;
  readonly retried: <T>(target: string, operation: () => Promise<T>) => Promise<T>;
}

function sessionOf({ store, opened, mapped, retried }: SessionParts): VectorStoreSession {
  return {
    store,
    list: () => retried('', () => opened.list()),
    describe: (target) => retried(target, () => opened.describe(target)),
    create: (target) => mapped(target.name, () => opened.create(target)),
    remove: (target) => mapped(target, () => opened.remove(target)),
    query: (target, query) => retried(target, () => opened.query(target, query)),
    fetch: (target, ids, options) => retried(target, () => opened.fetch(target, ids, options)),
    deleteIds: (target, ids, options) => retried(target, () => opened.deleteIds(target, ids, options)),
    deleteWhere: (target, filter, options) => retried(target, () => opened.deleteWhere(target, filter, options)),
    count: (target, options) => retried(target, () => opened.count(target, options)),
    async write(target, records, options) {
      let written = 0;
      try {
        const limits = await retried(target, () => opened.writeLimits());
        for (const batch of splitBatches(records, limits, opened.sizeOf)) {
          await retried(target, () => opened.write(target, batch, options));
          written += batch.length;
        }
      } catch (thrown) {
        throw thrown instanceof RestError ? withCount(thrown, written, records.length) : thrown;
      }
    },
  };
}

/** The same error with the number of vectors that were written (D15). */
function withCount(
  { code, message, status, data, headers, cause }: RestError,
  written: number,
  all: number,
): RestError {
  const withWritten = `${message} ${String(written)} of ${String(all)} vectors were written; send the same ids again to complete them.`;
  return new RestError({
    code,
    status,
    message: withWritten,
    data: { ...(data as Readonly<Record<string, unknown>> | undefined), upserted_count: written },
    headers,
    cause,
  });
}

function unknownStore(id: string): RestError {
  const message = `Unknown vector store ${id}.`;
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

/** What vector stores are opened with. */
interface VectorServices {
  readonly stores: VectorStoreRegistry;
  readonly storeSettings: {
    /** Saved settings, secrets in plain text; empty when nothing was saved. */
    effective(id: string): Promise<VectorStoreSettings>;
    /** Names of saved secrets that another key encrypted. Without them no call is made. Default: none. */
    unreadable?(store: VectorStore): Promise<readonly string[]>;
  };
  readonly host: Pick<HostApi, 'clock' | 'log' | 'database'>;
  readonly upstream: UpstreamHttp;
  /** 0 up to 1, for the jitter of waits. Default Math.random. */
  readonly random?: () => number;
}

interface DimensionCheck {
  readonly store: Pick<VectorStore, 'id'>;
  readonly target: VectorTarget;
  /** The requested embedding model. */
  readonly model: string;
  readonly vector: readonly number[];
}

/** @throws RestError 400 `rest_svc_vector_dimension_mismatch` that names both (D5). A target without a known dimension accepts any. */
export function checkDimension({ store, target, model, vector }: DimensionCheck): void {
  const { name, dimension } = target;
  if (dimension === null || dimension === vector.length) return;
  throw errors.vector_dimension_mismatch({
    values: { target: name, expected: dimension, model, actual: vector.length },
    data: { provider: store.id, target_dimension: dimension, model_dimension: vector.length },
  });
}
