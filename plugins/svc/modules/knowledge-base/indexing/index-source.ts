import { setImmediate as breathe } from 'node:timers/promises';
import type { Knex } from '#plugin-api';
import type { KnowledgeBase } from '../bases/base.ts';
import { createChunkRows, type ChunkRows } from '../chunks/chunk-rows.ts';
import { chunkSection, type Chunk } from '../chunks/chunk-text.ts';
import { tokenCounter } from '../chunks/count-tokens.ts';
import { hashOf, numberedChunks, type NumberedChunk } from '../chunks/numbered-chunks.ts';
import { sectionsOf } from '../chunks/sections.ts';
import '../hooks.ts';
import { readSource, SourceError, type SourceText } from '../sources/read-source.ts';
import type { Claimed, SourceOutcome } from '../sources/source.ts';
import { deleteVectors } from './delete-vectors.ts';
import { emitIndexed } from './emit-indexed.ts';
import { LeaseLostError, type IndexParts } from './index-parts.ts';

export interface IndexInit {
  readonly signal: AbortSignal;
  /** For the usage ledger; default: the source. */
  readonly reference?: string | null;
}

/** A source whose passages are all in the store; `commit` says so. */
export interface ReadyIndex {
  /** One sentence. */
  readonly message: string;
  readonly isChanged: boolean;
  /** Stores the outcome and sends `kb.source_indexed`, both with the transaction. @throws LeaseLostError */
  commit(transaction: Knex.Transaction): Promise<void>;
}

/** Passages embedded and written as one. */
const atOnce = 96;
const mostChunks = 20_000;
/** Sections between two breaths: other requests of the process come in between. */
const sectionsAtOnce = 25;

/**
 * Brings the vectors of a source in line with what it says now: passages that are there stay, new ones are embedded and
 * written, old ones are deleted. Nothing is done for one that has not changed. May be begun again by any node at any
 * moment: ids follow from the passages, so that nothing is ever there twice.
 *
 * @throws SourceError where the source is at error, RestError of D5 for providers and stores, LeaseLostError
 */
export async function indexSource(parts: IndexParts, claimed: Claimed, init: IndexInit): Promise<ReadyIndex> {
  const { source, lease } = claimed;
  const base = await parts.bases.get(source.baseId);
  if (base?.state !== 'active') throw new SourceError('Its knowledge base is being deleted.');
  const onProgress = (message: string): void => {
    void parts.queue.progress(lease, { message }).catch(() => undefined);
  };
  const text = await parts.host.hooks.applyFiltersAsync(
    'svc_knowledge_text',
    await readSource(parts, source, { lease, signal: init.signal, onProgress }),
    { source, base },
  );
  const title = oneLine(text.title) || source.title;
  const contentHash = hashOf([
    title,
    text.url,
    text.text,
    String(base.chunkTokens),
    String(base.overlapTokens),
    base.embeddingProvider,
    base.embeddingModel,
  ]);
  if (contentHash === source.contentHash) return unchanged(parts, claimed, { title, url: text.url });
  const chunks = await chunksOf(parts, { claimed, base, text: { ...text, title } });
  const { added, removed } = await bringInLine(parts, { claimed, base, chunks, text: { ...text, title } }, init);
  const message = `${plural(chunks.length)}: ${added === chunks.length ? 'all new' : `${String(added)} new, ${String(chunks.length - added)} as before`}${removed === 0 ? '' : `, ${String(removed)} gone`}.`;
  const outcome: SourceOutcome = { title, url: text.url, contentHash, message, chunks: chunks.length };
  return {
    message,
    isChanged: true,
    async commit(transaction) {
      if (!(await parts.queue.finish(claimed, outcome, transaction))) throw new LeaseLostError();
      await emitIndexed(parts, { source: { ...source, title, url: text.url }, base, message }, transaction);
    },
  };
}

/** Its title is set again: whoever asked for it may have known none. */
function unchanged(parts: IndexParts, claimed: Claimed, { title, url }: Pick<SourceText, 'title' | 'url'>): ReadyIndex {
  const { contentHash, chunksTotal } = claimed.source;
  const message = 'Nothing has changed since it was indexed.';
  return {
    message,
    isChanged: false,
    async commit(transaction) {
      if (!(await parts.queue.finish(claimed, { title, url, contentHash, message, chunks: chunksTotal }, transaction)))
        throw new LeaseLostError();
    },
  };
}

interface Work {
  readonly claimed: Claimed;
  readonly base: KnowledgeBase;
  readonly text: SourceText;
}

async function chunksOf(
  { host }: IndexParts,
  { claimed: { source }, base, text }: Work,
): Promise<readonly NumberedChunk[]> {
  const count = await tokenCounter();
  const cut: Chunk[] = [];
  for (const [at, section] of sectionsOf(text.text).entries()) {
    cut.push(...chunkSection(section, { size: base.chunkTokens, overlap: base.overlapTokens }, count));
    if (cut.length > mostChunks)
      throw new SourceError(`It comes to more than ${String(mostChunks)} passages. Split it, or have larger passages.`);
    if (at % sectionsAtOnce === 0) await breathe();
  }
  const chunks = await host.hooks.applyFiltersAsync('svc_knowledge_chunks', cut, { source, base });
  if (chunks.length === 0) throw new SourceError('It holds no text.');
  return numberedChunks(chunks, { id: source.id, title: text.title, url: text.url });
}

async function bringInLine(
  parts: IndexParts,
  work: Work & { readonly chunks: readonly NumberedChunk[] },
  init: IndexInit,
): Promise<{ readonly added: number; readonly removed: number }> {
  const {
    claimed: { source, lease },
    base,
    chunks,
  } = work;
  const rows = createChunkRows(parts.host.database);
  const written = await rows.written(source.id);
  const missing = chunks.filter(({ vectorId }) => !written.has(vectorId));
  const hold = async (done: number): Promise<void> => {
    init.signal.throwIfAborted();
    if (!(await parts.queue.progress(lease, { total: chunks.length, done, message: '' }))) throw new LeaseLostError();
  };
  await hold(chunks.length - missing.length);
  await rows.note(source.id, chunks);
  for (let at = 0; at < missing.length; at += atOnce) {
    const batch = missing.slice(at, at + atOnce);
    await writeBatch(parts, { ...work, batch, rows }, init);
    await hold(chunks.length - missing.length + at + batch.length);
  }
  const removed = await deleteVectors(
    parts,
    {
      sourceId: source.id,
      base,
      kept: new Set(chunks.map(({ vectorId }) => vectorId)),
      hold: () => hold(chunks.length),
    },
    init.signal,
  );
  return { added: missing.length, removed };
}

async function writeBatch(
  { upsertVectors }: IndexParts,
  {
    claimed: { source },
    base,
    text,
    batch,
    rows,
  }: Work & { readonly batch: readonly NumberedChunk[]; readonly rows: ChunkRows },
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
