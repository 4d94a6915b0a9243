import type { Source, SourceKind } from '../sources/source.ts';

const kindWords: Readonly<Record<SourceKind, string>> = {
  text: 'Text',
  qa: 'Question and answer',
  file: 'File',
  post: 'Post',
  address: 'Page',
  sitemap: 'Sitemap',
};
const badges = {
  pending: { text: 'waiting', kind: 'info' },
  indexing: { text: 'being indexed', kind: 'info' },
  indexed: { text: 'indexed', kind: 'success' },
  failed: { text: 'failed', kind: 'error' },
  deleting: { text: 'being deleted', kind: 'warning' },
} as const;

/** A source as a row of the page. */
export function sourceRow(source: Source): Record<string, unknown> {
  const { id, baseId, state, kind, chunksTotal, chunksDone } = source;
  const isBusy = state === 'pending' || state === 'indexing' || state === 'deleting';
  return {
    id,
    title: source.title,
    url: source.url,
    kind: kindWords[kind],
    badge: badges[state],
    isBusy,
    message: source.message,
    isFailed: state === 'failed',
    isWaiting: state === 'pending' && source.message !== '',
    progress:
      state === 'indexing' && chunksTotal > 0
        ? { value: chunksDone, max: chunksTotal, text: `${String(chunksDone)} of ${String(chunksTotal)}` }
        : null,
    chunks: kind === 'sitemap' ? null : chunksTotal,
    indexedAt: source.indexedAt,
    canRetry: state === 'failed' || (state === 'pending' && source.attempts > 0),
    canIndex: state === 'indexed',
    isDeleting: state === 'deleting',
    fields: { id: baseId, source: id },
  };
}
