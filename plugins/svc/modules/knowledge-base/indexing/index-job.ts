import { RestError, type RunningJob } from '#plugin-api';
import type { IndexParts } from '../knowledge.ts';
import { SourceError } from '../sources/read-source.ts';
import { SourceChangedError, type Source } from '../sources/source.ts';
import { deleteBaseJob } from '../tables.ts';
import { deleteVectors } from './delete-vectors.ts';
import { expandSitemap } from './expand-sitemap.ts';
import { indexSource } from './index-source.ts';

/** Indexes or deletes a source, as its state says. */
export async function runIndexJob(parts: IndexParts, id: number, job: RunningJob): Promise<void> {
  const source = await parts.work.begin(id);
  if (source === null) return;
  try {
    await (source.state === 'deleting'
      ? deleteSource(parts, source, job)
      : source.kind === 'sitemap'
        ? indexSitemap(parts, source, job)
        : index(parts, source, job));
  } catch (error) {
    // Its request has added the job again.
    if (error instanceof SourceChangedError) return;
    if (!(error instanceof SourceError && error.isGone)) throw withRetryable(parts, source, error);
    await parts.sources.markDeleting({ id }, { keepsFollowing: true });
  }
}

async function index(parts: IndexParts, source: Source, job: RunningJob): Promise<void> {
  const ready = await indexSource(parts, source, job);
  await job.commit((transaction) => ready.commit(transaction));
  if (!ready.isChanged) return;
  const [indexed, base] = await Promise.all([parts.sources.get(source.id), parts.bases.get(source.baseId)]);
  if (indexed !== null && base !== null) await parts.host.hooks.doActionAsync('svc_knowledge_indexed', indexed, base);
}

async function indexSitemap(parts: IndexParts, source: Source, job: RunningJob): Promise<void> {
  const { message } = await expandSitemap(parts, source, job.signal);
  const { title, url } = source;
  await job.commit(async () => {
    await parts.work.finish(source, { title, url, contentHash: '', message, chunks: 0 });
  });
}

async function deleteSource({ host, ...parts }: IndexParts, source: Source, job: RunningJob): Promise<void> {
  const base = await parts.bases.get(source.baseId);
  if (base !== null) await deleteVectors({ ...parts, host }, { sourceId: source.id, base, current: null }, job.signal);
  await job.commit(async () => {
    const isRemoved = await parts.work.remove(source);
    if (isRemoved && base?.state === 'deleting')
      await host.jobs.add(deleteBaseJob, { base: base.id }, { key: String(base.id) });
  });
}

/** Decides whether a later attempt may succeed. A deletion is tried until it does. */
function withRetryable({ host }: IndexParts, { state }: Source, error: unknown): unknown {
  const retryable = state === 'deleting' || host.database.isUnavailable(error) || isTransient(error);
  return error instanceof Error
    ? Object.assign(error, { retryable })
    : Object.assign(new Error('It failed for an unknown reason. See the log for details.'), { retryable });
}

function isTransient(error: unknown): boolean {
  const { status, code } = error as { readonly status?: unknown; readonly code?: unknown };
  if (typeof status === 'number') return status === 429 || status >= 500;
  return typeof code === 'string' && /^outbound_(?:dns|connect|tls|timeout|unreadable)$/.test(code);
}

/** Deletes a knowledge base without sources, and on request its index or collection. */
export async function runDeleteBaseJob(
  { bases, openVectorStore }: IndexParts,
  id: number,
  job: RunningJob,
): Promise<void> {
  const base = await bases.findEmptied(id);
  if (base === null) return;
  if (base.removesTarget)
    try {
      await (await openVectorStore(base.store)).remove(base.target);
    } catch (error) {
      const isGone =
        error instanceof RestError && (error.code === 'rest_svc_vector_target_not_found' || error.status === 400);
      if (!isGone) throw error instanceof Error ? Object.assign(error, { retryable: true }) : error;
    }
  await job.commit(() => bases.remove(id));
}
