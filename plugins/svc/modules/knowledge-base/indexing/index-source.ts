import type { Knex, RunningJob } from '#plugin-api';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { createChunkRows, type ChunkRows } from '../chunks/chunk-rows.ts';
import { hashTexts, numberChunks, type NumberedChunk } from '../chunks/chunk-text.ts';
import type { parseChunks } from '../chunks/chunks.reader.ts';
import type { IndexingScene } from '../hooks.ts';
import {
  readDeadline,
  readSource,
  SourceError,
  throwSourceError,
  type ReadInit,
  type SourceText,
} from '../sources/read-source.ts';
import { SourceChangedError, type SourceOutcome, type Source } from '../sources/source.ts';
import { deleteVectors } from './delete-vectors.ts';
import type { IndexParts } from '../knowledge.ts';
import type { EventData } from '../../../kit/define-event.ts';
import type { sourceIndexedEvent } from '../source-indexed.event.ts';

export interface IndexInit extends Pick<RunningJob, 'signal' | 'progress'> {
  /** For the usage ledger; default: the source. */
  readonly reference?: string | null;
}

/** A source whose passages are all in the store. Call `commit` to record it. */
export interface ReadyIndex {
  /** One sentence. */
  readonly message: string;
  readonly isChanged: boolean;
  /** Stores the outcome and emits `kb.source_indexed` in the transaction. @throws SourceChangedError */
  commit(transaction: Knex.Transaction): Promise<void>;
}

/** Passages per call of the provider and the store. */
const batchSize = 96;

/**
 * Synchronizes the vectors of a source with its current text: embeds and writes new passages, deletes old ones. Skips an
 * unchanged source. Safe to restart on any node at any time, because ids are derived from the passages.
 *
 * @throws SourceError if the source cannot be indexed, RestError of D5 for providers and stores, SourceChangedError
 */
export async function indexSource(parts: IndexParts, source: Source, init: IndexInit): Promise<ReadyIndex> {
  const base = await parts.bases.get(source.baseId);
  if (base?.state !== 'active') throw new SourceError('The knowledge base is being deleted.');
  const onProgress = (message: string): void => {
    void parts.work.progress(source, { message }).catch(() => undefined);
  };
  const text = await readText(parts, { source, base }, { signal: init.signal, onProgress });
  const title = oneLine(text.title) || source.title;
  const contentHash = hashTexts([
    title,
    text.url,
    text.text,
    String(base.chunkTokens),
    String(base.overlapTokens),
    base.embeddingProvider,
    base.embeddingModel,
  ]);
  if (contentHash === source.contentHash) return unchanged(parts, source, { title, url: text.url });
  const chunks = await createChunks(parts, { source, base, text: { ...text, title }, signal: init.signal });
  const { added, removed } = await syncVectors(parts, { source, base, chunks, text: { ...text, title } }, init);
  const isNew = added === chunks.length;
  const counts = isNew ? 'all new' : `${String(added)} new, ${String(chunks.length - added)} unchanged`;
  const message = `${plural(chunks.length)}: ${counts}${removed === 0 ? '' : `, ${String(removed)} deleted`}.`;
  const outcome: SourceOutcome = { title, url: text.url, contentHash, message, chunks: chunks.length };
  return {
    message,
    isChanged: true,
    async commit(transaction) {
      if (!(await parts.work.finish(source, outcome, transaction))) throw new SourceChangedError();
      await emitIndexed(parts, { source: { ...source, title, url: text.url }, base, message }, transaction);
    },
  };
}

/** The text of a source as it is indexed. @throws SourceError */
export async function readText(
  parts: Pick<IndexParts, 'host' | 'sources'>,
  scene: IndexingScene,
  init: ReadInit,
): Promise<SourceText> {
  const text = await readSource(parts, scene.source, init);
  return parts.host.hooks.applyFiltersAsync('svc_knowledge_text', text, scene);
}

/** Updates the title all the same: the request to index may have come without one. */
function unchanged(parts: IndexParts, source: Source, { title, url }: Pick<SourceText, 'title' | 'url'>): ReadyIndex {
  const { contentHash, chunksTotal } = source;
  const message = 'Nothing has changed since the last indexing.';
  return {
    message,
    isChanged: false,
    async commit(transaction) {
      if (!(await parts.work.finish(source, { title, url, contentHash, message, chunks: chunksTotal }, transaction)))
        throw new SourceChangedError();
    },
  };
}

interface Work {
  readonly source: Source;
  readonly base: KnowledgeBase;
  readonly text: SourceText;
}

async function createChunks(
  { host }: IndexParts,
  { source, base, text, signal }: Work & { readonly signal: AbortSignal },
): Promise<readonly NumberedChunk[]> {
  const split = await host.documents
    .read<typeof parseChunks>({
      module: new URL('../chunks/chunks.reader.ts', import.meta.url),
      reader: 'parseChunks',
      input: { text: text.text, size: base.chunkTokens, overlap: base.overlapTokens },
      queue: 'background',
      deadline: readDeadline,
      signal,
    })
    .catch(throwSourceError);
  const chunks = await host.hooks.applyFiltersAsync('svc_knowledge_chunks', split, { source, base });
  if (chunks.length === 0) throw new SourceError('The source has no text.');
  return numberChunks(chunks, { id: source.id, title: text.title, url: text.url });
}

async function syncVectors(
  parts: IndexParts,
  work: Work & { readonly chunks: readonly NumberedChunk[] },
  init: IndexInit,
): Promise<{ readonly added: number; readonly removed: number }> {
  const { source, base, chunks } = work;
  const rows = createChunkRows(parts.host.database);
  const written = await rows.written(source.id);
  const missing = chunks.filter(({ vectorId }) => !written.has(vectorId));
  const report = async (done: number): Promise<void> => {
    init.signal.throwIfAborted();
    init.progress(done, chunks.length, source.title);
    await parts.work.progress(source, { total: chunks.length, done, message: '' });
  };
  await report(chunks.length - missing.length);
  await rows.record(source.id, chunks);
  for (let at = 0; at < missing.length; at += batchSize) {
    const batch = missing.slice(at, at + batchSize);
    await writeBatch(parts, { ...work, batch, rows }, init);
    await report(chunks.length - missing.length + at + batch.length);
  }
  const removed = await deleteVectors(
    parts,
    { sourceId: source.id, base, current: new Set(chunks.map(({ vectorId }) => vectorId)) },
    init.signal,
  );
  return { added: missing.length, removed };
}

async function writeBatch(
  { upsertVectors }: IndexParts,
  { source, base, text, batch, rows }: Work & { readonly batch: readonly NumberedChunk[]; readonly rows: ChunkRows },
  { signal, reference }: IndexInit,
): Promise<void> {
  await upsertVectors({
    store: base.store,
    target: base.target,
    ...(base.namespace !== '' && { namespace: base.namespace }),
    embedding: { provider: base.embeddingProvider, model: base.embeddingModel },
    items: batch.map(({ vectorId, content, headings }) => ({
      id: vectorId,
      content,
      metadata: {
        title: text.title,
        ...(text.url !== '' && { url: text.url }),
        ...(headings.length > 0 && { heading: headings.join(' > ') }),
        kb_source: source.id,
      },
    })),
    signal,
    origin: {
      module: 'knowledge-base',
      route: null,
      botId: null,
      reference: reference ?? `knowledge:${String(source.id)}`,
    },
  });
  await rows.markWritten(
    source.id,
    batch.map(({ vectorId }) => vectorId),
  );
}

function plural(count: number): string {
  return count === 1 ? '1 passage' : `${String(count)} passages`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
}

/** Emits `kb.source_indexed` (contract 6.5), once per indexed version of a source (D19). */
async function emitIndexed(
  parts: Pick<IndexParts, 'host' | 'providers' | 'vectorStores'>,
  { source, base, message }: { readonly source: Source; readonly base: KnowledgeBase; readonly message: string },
  transaction: Knex.Transaction,
): Promise<void> {
  const providers = parts.providers.all();
  const data = {
    source: {
      log_id: source.id,
      post_id: source.postId,
      post_title: source.title,
      post_url: source.url === '' ? null : source.url,
    },
    provider: parts.vectorStores.get(base.store)?.label ?? base.store,
    store: { id: base.target, name: base.name },
    status: 'indexed',
    message,
    embedding: {
      provider: providers.find(({ id }) => id === base.embeddingProvider)?.label ?? base.embeddingProvider,
      model: base.embeddingModel,
    },
  } satisfies EventData<typeof sourceIndexedEvent>;
  const key = [source.version];
  await parts.host.hooks.doActionAsync('svc_event_emit', 'kb.source_indexed', data, {
    origin: source.origin,
    key,
    transaction,
  });
}
