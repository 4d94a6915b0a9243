import { DocumentError, type HostApi, invalidFields } from '#plugin-api';
import { readCsv, readFeed } from '../../../kit/documents.ts';
import { typedInternalHost } from '../../../kit/internal-host.ts';
import type { CsvSource, ListSource, PostsSource, RssSource, TaskSource } from '../tasks/task.ts';
import type { ItemInput } from '../queue/item.ts';
import { conditionsOf, versionOf, type FeedVersion } from './feed-version.ts';

export interface SourceParts {
  readonly host: Pick<HostApi, 'http' | 'content' | 'documents'>;
  readonly signal?: AbortSignal;
  /** The version of a feed whose entries are known. If it is still the present one, there are no entries. Default: none. */
  readonly known?: FeedVersion;
  /** Called with the version of a feed that is read. */
  readonly onVersion?: (version: FeedVersion) => void;
  /** Called instead if the known version is the present one. */
  readonly onUnchanged?: () => void;
  /** Called with the title of a feed that has one, and no entries. */
  readonly onEmpty?: (title: string) => void;
}

/** The host has no categories; the content writer stores them in this post meta. */
const categoryKey = 'svc_category';
/** Posts per query. */
const pageOfPosts = 200;
const fetchLimits = { timeout: 20_000, maxBytes: 10_000_000 } as const;

/**
 * Reads the current entries of a source, in its order.
 *
 * @throws Error or RestError with a message for people if it cannot be read
 */
export function readSource(source: TaskSource, parts: SourceParts): AsyncIterable<Candidate> {
  switch (source.kind) {
    case 'list':
      return fromList(source);
    case 'csv':
      return fromCsv(source, parts);
    case 'rss':
      return fromFeed(source, parts);
    case 'posts':
      return fromPosts(source, parts);
  }
}

async function* fromList({ items }: ListSource): AsyncGenerator<Candidate> {
  for (const item of items) yield { identity: `line:${item}`, target: item, input: {} };
}

async function* fromCsv({ text }: CsvSource, { host, signal }: SourceParts): AsyncGenerator<Candidate> {
  try {
    const { header, rows } = await readCsv(host, text, { queue: 'background', signal });
    for (const row of rows()) {
      const cells = header.map((name) => row[name] ?? '');
      yield {
        identity: `row:${JSON.stringify(cells)}`,
        target: cells[0] || (cells.find((cell) => cell !== '') ?? ''),
        input: row,
      };
    }
  } catch (error) {
    if (error instanceof DocumentError) throw invalidFields({ 'source.text': `CSV: ${error.message}` });
    throw error;
  }
}

async function* fromFeed({ url }: RssSource, parts: SourceParts): AsyncGenerator<Candidate> {
  const { host, signal, known = {}, onVersion, onUnchanged, onEmpty } = parts;
  const allowHost = typedInternalHost(url);
  const response = await host.http.fetch(url, {
    ...fetchLimits,
    headers: {
      accept: 'application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.8',
      ...conditionsOf(known),
    },
    ...(allowHost !== null && { allowHost }),
    ...(signal && { signal }),
  });
  if (response.status === 304 && Object.keys(known).length > 0) return onUnchanged?.();
  if (response.status < 200 || response.status > 299)
    throw new Error(
      `The feed's server returned status ${String(response.status)}. Open ${url} in a browser to see why.`,
    );
  try {
    const feed = await readFeed(
      host,
      { source: response.body, address: response.url, contentType: response.headers['content-type'] },
      { queue: 'background', signal },
    );
    onVersion?.(versionOf(response.headers));
    if (feed.entries.length === 0 && feed.title !== '') onEmpty?.(feed.title);
    for (const { id, title, url: address, summary, content, published, updated, created } of feed.entries) {
      yield {
        identity: `entry:${id}`,
        target: address || title || id,
        input: {
          title,
          url: address,
          summary,
          content,
          published: dateText(published),
          updated: dateText(updated),
          created: dateText(created),
          id,
          feed_title: feed.title,
        },
      };
    }
  } catch (error) {
    if (error instanceof DocumentError)
      throw new Error(
        `${url} ${error.code === 'unreadable' ? 'is not a feed' : 'could not be read'}: ${error.message}`,
        {
          cause: error,
        },
      );
    throw error;
  }
}

const dateText = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

async function* fromPosts(
  { post_type, status, category, search, changed_since, again }: PostsSource,
  { host }: SourceParts,
): AsyncGenerator<Candidate> {
  const { posts } = host.content;
  const modifiedAfter = changed_since === '' ? undefined : Date.parse(`${changed_since}T00:00:00Z`) - 1;
  for (let offset = 0; ; offset += pageOfPosts) {
    const found = await posts.find({
      type: post_type,
      status,
      hasPassword: false,
      ...(search !== '' && { search }),
      ...(modifiedAfter !== undefined && { modifiedAfter }),
      orderBy: 'id',
      order: 'asc',
      limit: pageOfPosts,
      offset,
    });
    for (const post of found) {
      const { id, title, modified } = post;
      if (category !== '' && !isSame(await host.content.meta.get(id, categoryKey), category)) continue;
      yield {
        identity: again ? `post:${String(id)}:${String(modified)}` : `post:${String(id)}`,
        target: String(id),
        input: { post_id: id, title, url: await host.content.permalink(post) },
        post: { id, modified },
      };
    }
    if (found.length < pageOfPosts) return;
  }
}

function isSame(value: unknown, category: string): boolean {
  return typeof value === 'string' && value.trim().toLowerCase() === category.trim().toLowerCase();
}

/** An entry of a source before it is queued. */
export interface Candidate {
  /** Stable across runs, and unique within the task. */
  readonly identity: string;
  /** Topic, address, row's first cell or post id (contract 6.5). */
  readonly target: string;
  readonly input: ItemInput;
  /** For posts: the id, and the last change in milliseconds since the epoch. */
  readonly post?: { readonly id: number; readonly modified: number };
}
