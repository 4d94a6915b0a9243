import { RestError } from '#plugin-api';
import { SourceError } from '../sources/read-source.ts';
import { leaseTime } from '../sources/source-queue.ts';
import type { Claimed, Source } from '../sources/source.ts';
import { deleteVectors } from './delete-vectors.ts';
import { indexSource } from './index-source.ts';
import { LeaseLostError, type IndexParts } from './index-parts.ts';
import { spreadSitemap } from './spread-sitemap.ts';

export interface IndexWorker {
  /** Works on what is due until nothing is, a few sources at a time; answers when this node has nothing more to do. */
  drain(): Promise<void>;
  /** Gives back what is under way; others go on with it. */
  stop(): Promise<void>;
}

const lanes = 2;
/** Milliseconds before the second, third and fourth try; after that somebody has to ask. */
const pauses = [30_000, 120_000, 600_000] as const;

/** Indexes and deletes sources in the background. Any number of nodes may work: each source is worked on by one at a time, under a lease. */
export function createIndexWorker(parts: IndexParts): IndexWorker {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();

  async function lane(): Promise<void> {
    while (!stopping.signal.aborted) {
      const claimed = await parts.queue.claim();
      if (claimed === null) break;
      await workOn(parts, claimed, stopping.signal);
    }
    await removeEmptied(parts);
  }

  return {
    async drain() {
      while (running.size < lanes && !stopping.signal.aborted) {
        const work = lane().catch((error: unknown) => {
          parts.host.log.error(
            'Sources of knowledge bases are not indexed on this node for now; cron tries again within a minute.',
            { error },
          );
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

async function workOn(parts: IndexParts, claimed: Claimed, stopped: AbortSignal): Promise<void> {
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
        ? spread(parts, claimed, signal)
        : index(parts, claimed, signal));
  } catch (error) {
    if (!stopped.aborted && !lost.signal.aborted && !(error instanceof LeaseLostError))
      await noteFailure(parts, claimed, error);
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

async function spread(parts: IndexParts, claimed: Claimed, signal: AbortSignal): Promise<void> {
  const { message } = await spreadSitemap(parts, claimed, signal);
  const { title, url } = claimed.source;
  if (!(await parts.queue.finish(claimed, { title, url, contentHash: '', message, chunks: 0 })))
    throw new LeaseLostError();
}

async function deleteSource(parts: IndexParts, { source, lease }: Claimed, signal: AbortSignal): Promise<void> {
  const base = await parts.bases.get(source.baseId);
  const hold = async (): Promise<void> => {
    signal.throwIfAborted();
    if (!(await parts.queue.renew(lease))) throw new LeaseLostError();
  };
  if (base !== null) await deleteVectors(parts, { sourceId: source.id, base, kept: null, hold }, signal);
  if (!(await parts.queue.remove(lease))) throw new LeaseLostError();
}

async function noteFailure(parts: IndexParts, claimed: Claimed, error: unknown): Promise<void> {
  const { source } = claimed;
  const { queue, host, sources } = parts;
  if (error instanceof SourceError && error.isGone) {
    await sources.markDeleting({ id: source.id });
    return;
  }
  const message = sentenceOf(error);
  const retryAfter = waitOf(parts, source, error);
  host.log.warn(
    source.state === 'deleting'
      ? 'a source of a knowledge base cannot be deleted yet'
      : 'a source of a knowledge base was not indexed',
    { source: source.id, base: source.baseId, retryAfter, error },
  );
  const noted = await queue.fail(claimed, { message, retryAfter });
  if (noted && retryAfter === null) await host.hooks.doActionAsync('svc_knowledge_failed', source, message);
}

/** Milliseconds until the next try; null: trying again does not help, or has not helped. */
function waitOf({ host }: IndexParts, { state, attempts }: Source, error: unknown): number | null {
  const pause = pauses[Math.max(0, attempts - 1)];
  const asked = Number((error instanceof RestError ? error.headers : undefined)?.['Retry-After'] ?? 0) * 1000;
  const longest = Math.max(pause ?? pauses[2], Number.isFinite(asked) ? Math.min(asked, 86_400_000) : 0);
  if (state === 'deleting') return longest;
  if (host.database.isUnavailable(error)) return pauses[0];
  return pause !== undefined && mayPass(error) ? longest : null;
}

/** Whether the same may succeed a little later. */
function mayPass(error: unknown): boolean {
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  if (typeof status === 'number') return status === 429 || status >= 500;
  return typeof code === 'string' && /^outbound_(?:dns|connect|tls|timeout|unreadable)$/.test(code);
}

function sentenceOf(error: unknown): string {
  return error instanceof Error && error.message !== ''
    ? error.message
    : 'It failed for an unknown reason; the log says more.';
}

/** Knowledge bases whose last source has gone; an index or collection that its store does not give up is tried again by cron. */
async function removeEmptied({ bases, openVectorStore, host }: IndexParts): Promise<void> {
  for (const base of await bases.emptied()) {
    try {
      if (base.removesTarget) await (await openVectorStore(base.store)).remove(base.target);
    } catch (error) {
      if (!(
        error instanceof RestError &&
        (error.code === 'rest_svc_vector_target_not_found' || error.status === 400)
      )) {
        host.log.warn('an index or collection of a deleted knowledge base is still there', {
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
