import { RestError } from '#plugin-api';
import { SourceError } from '../sources/read-source.ts';
import { leaseTime } from '../sources/source-queue.ts';
import { LeaseLostError, type Claimed, type Source } from '../sources/source.ts';
import { deleteVectors } from './delete-vectors.ts';
import { indexSource } from './index-source.ts';
import type { IndexParts } from '../knowledge.ts';
import { expandSitemap } from './expand-sitemap.ts';

export interface IndexWorker {
  /** Processes due sources, two at a time; resolves when none is left for this node. */
  drain(): Promise<void>;
  /** Releases the sources in progress for other nodes. */
  stop(): Promise<void>;
}

const concurrency = 2;
/** Milliseconds before the second, third and fourth attempt; a later one needs a request. */
const retryDelays = [30_000, 120_000, 600_000] as const;

/** Indexes and deletes sources in the background. Several nodes can work at once: a lease gives each source to one of them. */
export function createIndexWorker(parts: IndexParts): IndexWorker {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function runLane(): Promise<void> {
    while (!stopping.signal.aborted) {
      const claimed = await parts.queue.claim();
      if (claimed === null) break;
      await processSource(parts, claimed, stopping.signal);
    }
    await removeEmptiedBases(parts);
  }

  return {
    async drain() {
      while (running.size < concurrency && !stopping.signal.aborted) {
        const work = runLane().catch((error: unknown) => {
          parts.host.log.error('Failed to index sources on this node; cron tries again within a minute', {
            event: 'knowledge_index_worker_failed',
            error,
          });
        });
        running.add(work);
        void work.finally(() => running.delete(work));
      }
      await Promise.all(running);
    },
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

async function processSource(parts: IndexParts, claimed: Claimed, stopped: AbortSignal): Promise<void> {
  const { queue, host } = parts;
  const lost = new AbortController();
  const undo = host.clock.every(leaseTime / 4, () => {
    queue.renew(claimed.lease).then(
      (held) => {
        if (!held) lost.abort(new LeaseLostError());
      },
      () => undefined,
    );
  });
  const signal = AbortSignal.any([stopped, lost.signal]);
  try {
    await (claimed.source.state === 'deleting'
      ? deleteSource(parts, claimed, signal)
      : claimed.source.kind === 'sitemap'
        ? indexSitemap(parts, claimed, signal)
        : index(parts, claimed, signal));
  } catch (error) {
    if (!stopped.aborted && !lost.signal.aborted && !(error instanceof LeaseLostError))
      await recordFailure(parts, claimed, error);
  } finally {
    undo();
    await queue.release(claimed.lease);
  }
}

async function index(parts: IndexParts, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const ready = await indexSource(parts, claimed, { signal });
  await parts.host.database.transaction((transaction) => ready.commit(transaction));
  if (!ready.isChanged) return;
  const [source, base] = await Promise.all([
    parts.sources.get(claimed.source.id),
    parts.bases.get(claimed.source.baseId),
  ]);
  if (source !== null && base !== null) await parts.host.hooks.doActionAsync('svc_knowledge_indexed', source, base);
}

async function indexSitemap(parts: IndexParts, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const { message } = await expandSitemap(parts, claimed, signal);
  const { title, url } = claimed.source;
  if (!(await parts.queue.finish(claimed, { title, url, contentHash: '', message, chunks: 0 })))
    throw new LeaseLostError();
}

async function deleteSource(parts: IndexParts, { source, lease }: Claimed, signal: AbortSignal): Promise<void> {
  const base = await parts.bases.get(source.baseId);
  const keepLease = async (): Promise<void> => {
    signal.throwIfAborted();
    if (!(await parts.queue.renew(lease))) throw new LeaseLostError();
  };
  if (base !== null) await deleteVectors(parts, { sourceId: source.id, base, current: null, keepLease }, signal);
  if (!(await parts.queue.remove(lease))) throw new LeaseLostError();
}

async function recordFailure(parts: IndexParts, claimed: Claimed, error: unknown): Promise<void> {
  const { source } = claimed;
  const { queue, host, sources } = parts;
  if (error instanceof SourceError && error.isGone) {
    await sources.markDeleting({ id: source.id }, { keepsFollowing: true });
    return;
  }
  const message = describeError(error);
  const retryAfter = retryDelay(parts, source, error);
  host.log.warn(
    source.state === 'deleting'
      ? 'Failed to delete a source of a knowledge base'
      : 'Failed to index a source of a knowledge base',
    {
      event: source.state === 'deleting' ? 'knowledge_source_deletion_failed' : 'knowledge_source_failed',
      source: source.id,
      base: source.baseId,
      retry_after: retryAfter,
      error,
    },
  );
  const noted = await queue.fail(claimed, { message, retryAfter });
  if (noted && retryAfter === null) await host.hooks.doActionAsync('svc_knowledge_failed', source, message);
}

/** Milliseconds until the next attempt; null: do not retry. */
function retryDelay({ host }: IndexParts, { state, attempts }: Source, error: unknown): number | null {
  const pause = retryDelays[Math.max(0, attempts - 1)];
  const requested = Number((error instanceof RestError ? error.headers : undefined)?.['Retry-After'] ?? 0) * 1000;
  const longest = Math.max(pause ?? retryDelays[2], Number.isFinite(requested) ? Math.min(requested, 86_400_000) : 0);
  if (state === 'deleting') return longest;
  if (host.database.isUnavailable(error)) return retryDelays[0];
  return pause !== undefined && isTransient(error) ? longest : null;
}

/** Whether a later attempt may succeed. */
function isTransient(error: unknown): boolean {
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  if (typeof status === 'number') return status === 429 || status >= 500;
  return typeof code === 'string' && /^outbound_(?:dns|connect|tls|timeout|unreadable)$/.test(code);
}

function describeError(error: unknown): string {
  return error instanceof Error && error.message !== ''
    ? error.message
    : 'It failed for an unknown reason. See the log for details.';
}

/** Deletes knowledge bases without sources. If the store fails to delete an index or collection, cron retries it. */
async function removeEmptiedBases({ bases, openVectorStore, host }: IndexParts): Promise<void> {
  for (const base of await bases.listEmptied()) {
    try {
      if (base.removesTarget) await (await openVectorStore(base.store)).remove(base.target);
    } catch (error) {
      if (!(
        error instanceof RestError &&
        (error.code === 'rest_svc_vector_target_not_found' || error.status === 400)
      )) {
        host.log.warn('Failed to delete the index or collection of a knowledge base', {
          event: 'knowledge_target_deletion_failed',
          base: base.id,
          store: base.store,
          target: base.target,
          error,
        });
        continue;
      }
    }
    await bases.remove(base.id);
  }
}
