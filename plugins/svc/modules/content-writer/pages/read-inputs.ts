import { readFile } from 'node:fs/promises';
import { readLines, DocumentError, formatCount, formatNumber, isUrl, invalidFields } from '#plugin-api';
import type { AdminRequest, HostApi } from '#plugin-api';
import { readCsv, readFeed, type ReadTable } from '../../../kit/documents.ts';
import type { Feed, FeedFile } from '../../../kit/feed.reader.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import type { CsvMapping } from '../runs/item.ts';
import { emptyInput, type ContentInput } from '../write/draft.ts';
import { fetchSource } from '../write/read-source.ts';

type Reading = Pick<HostApi, 'http' | 'documents'>;

/** Sources of topics. */
export const sources = ['topic', 'list', 'csv', 'feed', 'pages'] as const;
export type Source = (typeof sources)[number];

export interface ReadInputs {
  readonly label: string;
  /** One or more. */
  readonly inputs: readonly ContentInput[];
  readonly mapping: CsvMapping | null;
  readonly readPages: boolean;
}

/** Maximum number of texts in a batch. */
export const maxInputs = 500;
const longestTopic = 2_000;
const longestField = 20_000;
const longestCategory = 100;
const usualEntries = 10;

export function readSourceKind(request: AdminRequest): Source {
  return sources.find((one) => one === readText(request, 'source')) ?? 'topic';
}

/**
 * Reads the inputs of a form. Feeds are fetched here, guarded; pages are read when their text is written.
 *
 * @throws RestError 400 `rest_invalid_param` by field, or `rest_svc_source_unreadable`
 */
export async function readInputs(host: Reading, request: AdminRequest): Promise<ReadInputs> {
  const read = await readers[readSourceKind(request)](request, host);
  checkCount(read.inputs.length, fieldOf[readSourceKind(request)]);
  return read;
}

function checkCount(count: number, field: string): void {
  if (count > maxInputs)
    throw invalidFields({
      [field]: `A batch can have at most ${formatNumber(maxInputs)} texts. These are ${formatNumber(count)}.`,
    });
}

const fieldOf: Readonly<Record<Source, string>> = {
  topic: 'topic',
  list: 'list',
  csv: 'csv',
  feed: 'feed_url',
  pages: 'pages',
};

const readers: Readonly<Record<Source, (request: AdminRequest, host: Reading) => ReadInputs | Promise<ReadInputs>>> = {
  topic(request) {
    const topic = readText(request, 'topic').trim();
    if (topic === '') throw invalidFields({ topic: 'Enter a topic.' });
    if (topic.length > longestTopic)
      throw invalidFields({
        topic: `A topic can have at most ${formatNumber(longestTopic)} characters. Put details into the instructions.`,
      });
    return plain(topic, [{ ...common(request), topic }]);
  },
  list(request) {
    const topics = readLines(readText(request, 'list'));
    if (topics.length === 0) throw invalidFields({ list: 'Enter one topic per line.' });
    const inputs = topics.map((line) => readTopicLine(line, common(request)));
    const empty = inputs.findIndex(({ topic }) => topic === '');
    if (empty >= 0) throw invalidFields({ list: `Line ${String(empty + 1)} has no topic before the first |.` });
    return plain(`${String(topics.length)} topics: ${inputs[0]?.topic ?? ''}`, inputs);
  },
  async csv(request, host) {
    const file = request.files?.['csv_file'];
    const text = file ? await readFile(file.path, 'utf8') : readText(request, 'csv');
    const table = await readTable(host, text, request.signal);
    checkCount(table.rowCount, 'csv');
    const mapping = guessMapping(table.header);
    const inputs = [...table.rows()].map((row) => mapRow(row, mapping, common(request)));
    if (inputs.length === 0) throw invalidFields({ csv: 'The CSV has no rows below its header line.' });
    return { label: file ? file.name : `${formatCount(inputs.length, 'CSV row')}`, inputs, mapping, readPages: false };
  },
  async feed(request, host) {
    const url = parseAddress(readText(request, 'feed_url'), 'feed_url');
    const limit = Math.min(
      maxInputs,
      Math.max(1, Number.parseInt(readText(request, 'feed_limit'), 10) || usualEntries),
    );
    const { bytes, url: address } = await fetchSource(host, url, {
      signal: request.signal,
      typed: request.user.can('manage_options'),
    });
    const feed = await fetchedFeed(host, { source: bytes, address }, request.signal);
    const inputs = feed.entries.slice(0, limit).map(({ title, summary, content, url: link }) => ({
      ...common(request),
      topic: (title || summary).slice(0, longestTopic),
      source: content || summary,
      source_url: link,
    }));
    if (inputs.length === 0) throw invalidFields({ feed_url: 'The feed has no entries.' });
    return {
      label: feed.title || new URL(url).host,
      inputs,
      mapping: null,
      readPages: readText(request, 'read_pages') === '1',
    };
  },
  pages(request) {
    const urls = readLines(readText(request, 'pages')).map((line) => parseAddress(line, 'pages'));
    if (urls.length === 0) throw invalidFields({ pages: 'Enter one page URL per line.' });
    const [first = ''] = urls;
    return {
      label: urls.length === 1 ? first : `${String(urls.length)} pages: ${first}`,
      inputs: urls.map((url) => ({
        ...common(request),
        source_url: url,
        is_typed: request.user.can('manage_options'),
      })),
      mapping: null,
      readPages: true,
    };
  },
};

function plain(label: string, inputs: readonly ContentInput[]): ReadInputs {
  return { label, inputs, mapping: null, readPages: false };
}

/** Keywords and instructions of the form, for all its texts. */
function common(request: AdminRequest): ContentInput {
  return {
    ...emptyInput,
    keywords: readText(request, 'keywords').trim().slice(0, longestField),
    instructions: readText(request, 'instructions').trim().slice(0, longestField),
  };
}

function parseAddress(text: string, field: string): string {
  const address = text.trim();
  if (!isUrl(address) || !/^https?:$/.test(new URL(address).protocol))
    throw invalidFields({
      [field]: `${address === '' ? 'This' : address} is not a URL. Enter it with https://.`,
    });
  return address;
}

async function readTable(host: Reading, text: string, signal: AbortSignal): Promise<ReadTable> {
  if (text.trim() === '') throw invalidFields({ csv: 'Choose a file, or paste rows with a header line.' });
  try {
    return await readCsv(host, text, { signal });
  } catch (error) {
    if (error instanceof DocumentError) throw invalidFields({ csv: error.message });
    throw error;
  }
}

async function fetchedFeed(host: Reading, file: FeedFile, signal: AbortSignal): Promise<Feed> {
  try {
    return await readFeed(host, file, { signal });
  } catch (error) {
    if (error instanceof DocumentError)
      throw invalidFields({
        feed_url:
          error.code === 'unreadable'
            ? 'This URL is not an RSS or Atom feed. For a page, choose "Page URLs".'
            : error.message,
      });
    throw error;
  }
}

/**
 * Reads a line `topic`, `topic | keywords` or `topic | keywords | category`. Its keywords take precedence over those of the
 * form.
 */
export function readTopicLine(line: string, base: ContentInput): ContentInput {
  const [topic = '', keywords = '', ...category] = line.split('|').map((part) => part.trim());
  const named = category.join(' | ').slice(0, longestCategory);
  return {
    ...base,
    topic: topic.slice(0, longestTopic),
    keywords: keywords.slice(0, longestField) || base.keywords,
    ...(named !== '' && { category: named }),
  };
}

const columnNames: Readonly<Record<'topic' | 'keywords' | 'instructions' | 'category', RegExp>> = {
  topic: /^(topic|title|subject|name|thema|titel|headline)$/i,
  keywords: /^(keywords?|key ?phrases?|stichw(o|ö)rter|focus)$/i,
  category: /^(category|categories|section|kategorien?|rubrik)$/i,
  instructions: /^(instructions?|notes?|wishes|brief|description|details|facts)$/i,
};

/** Guesses the columns by common names. Without a match, the first column is the topic. */
export function guessMapping(columns: readonly string[]): CsvMapping {
  const named = (what: keyof typeof columnNames): string =>
    columns.find((column) => columnNames[what].test(column)) ?? '';
  return {
    columns,
    topic: named('topic') || (columns[0] ?? ''),
    keywords: named('keywords'),
    instructions: named('instructions'),
    category: named('category'),
  };
}

/** The input of a row. Its cells take precedence over the values of the form. */
export function mapRow(row: Readonly<Record<string, string>>, mapping: CsvMapping, base: ContentInput): ContentInput {
  const category = (column = ''): string => cell(column).trim().slice(0, longestCategory);
  const cell = (column: string): string => (column !== '' && Object.hasOwn(row, column) ? (row[column] ?? '') : '');
  return {
    ...base,
    row,
    topic: cell(mapping.topic).slice(0, longestTopic),
    keywords: cell(mapping.keywords) || base.keywords,
    instructions: [cell(mapping.instructions), base.instructions].filter((text) => text !== '').join('\n'),
    ...(category(mapping.category) !== '' && { category: category(mapping.category) }),
  };
}
