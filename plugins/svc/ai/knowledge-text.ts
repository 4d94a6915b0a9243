import { isUrl } from '#plugin-api';
import type { SearchResult } from './search-vectors.ts';

/** A text of the knowledge that fits a question. */
export interface KnowledgeText {
  /** Of its vector. */
  readonly id: string;
  readonly title: string;
  /** http or https; empty: it has no address. */
  readonly url: string;
  readonly text: string;
  /** Percent, 0 to 100. */
  readonly score: number;
}

/** Where an answer comes from, as its reader is shown it. */
export interface KnowledgeSource {
  readonly title: string;
  /** Empty: it has no address. */
  readonly url: string;
  /** Percent, 0 to 100. */
  readonly score: number;
}

/** Characters of one text, and of all together: what an index was filled with must not make a question dear without end. */
const longest = { text: 8_000, all: 40_000, title: 200 } as const;
const titleNames = ['title', 'post_title', 'source_title', 'name', 'file_name', 'filename', 'file', 'source'] as const;
const addressNames = ['url', 'post_url', 'source_url', 'link', 'permalink', 'source'] as const;

/** What was found, as texts: those alike enough, each once, best first. */
export function knowledgeTexts(
  { found, metric }: Pick<SearchResult, 'found' | 'metric'>,
  minimum: number,
): KnowledgeText[] {
  const texts: KnowledgeText[] = [];
  let left: number = longest.all;
  for (const { id, content, metadata, score: given } of found) {
    const text = (content ?? '').trim().slice(0, Math.min(longest.text, left));
    const score = percentOf(given, metric);
    if (text === '' || score < minimum || texts.some((known) => known.text === text)) continue;
    left -= text.length;
    texts.push({ id, title: titleOf(metadata, text), url: addressOf(metadata), text, score: Math.round(score) });
  }
  return texts;
}

/**
 * A store's score in percent. Cosine and dot product: 1 is 100, 0 and less is 0; dot products of vectors that are not of
 * unit length mean little. Euclidean scores are distances below zero: 0 is 100, 1 is 50, 4 is 20.
 */
export function percentOf(score: number, metric: SearchResult['metric']): number {
  if (Number.isNaN(score)) return 0;
  const share = metric === 'euclidean' ? 1 / (1 + Math.max(0, -score)) : score;
  return Math.min(1, Math.max(0, share)) * 100;
}

/** What readers are shown: each page once, with its best score. */
export function sourcesOf(texts: readonly KnowledgeText[]): KnowledgeSource[] {
  const sources = new Map<string, KnowledgeSource>();
  for (const { title, url, score } of texts) {
    const key = url || title;
    if ((sources.get(key)?.score ?? -1) < score) sources.set(key, { title, url, score });
  }
  return [...sources.values()];
}

type Metadata = Readonly<Record<string, unknown>>;

function titleOf(metadata: Metadata, text: string): string {
  const named = firstText(metadata, titleNames) ?? addressOf(metadata).replace(/^https?:\/\/|[?#].*$/g, '');
  const title = (named || text).replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
  const most = named === '' ? 60 : longest.title;
  return title.length > most ? `${title.slice(0, most - 1)}…` : title;
}

/** Never the address of a script: it becomes a link. */
function addressOf(metadata: Metadata): string {
  const address = firstText(metadata, addressNames, (text) => /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && isUrl(text));
  return address ?? '';
}

function firstText(
  metadata: Metadata,
  names: readonly string[],
  fits: (text: string) => boolean = () => true,
): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '' && fits(value.trim())) return value.trim();
  }
  return undefined;
}
