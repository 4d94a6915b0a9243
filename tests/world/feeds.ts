import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startAutomationsSite, type AutomationsSite } from '../contract/automations-site.ts';
import { readRows } from './data.ts';
import { createMeasure, type Kind } from './measure.ts';
import { textOfHtml } from './words.ts';

/* Feeds of every format and fault: what an automation hands to a plugin's kind of work. */

interface Feed {
  readonly file: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected: {
    readonly entries?: number;
    readonly feed_title?: string;
    readonly entry?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}

interface Encoding {
  readonly file: string;
  readonly encoding: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface FeedDate {
  readonly text: string;
  readonly expected: string | null;
}

/** The input that a plugin gets for an entry. */
type Entry = Readonly<Record<string, unknown>>;

/** What a run of an automation made of a feed. */
interface Outcome {
  readonly entries: readonly Entry[];
  /** Why it could not be read; '' when it was. */
  readonly refusal: string;
  /** What the run said of a feed without entries, which names its title. */
  readonly message?: string;
}

/** Values that differ on purpose, by file and name. They count as wrong. */
const exceptions: Readonly<Record<string, string>> = {
  'encoding/bozo_linenoise.xml summary':
    'one byte of the UTF-8 is broken; the expected text is a guess of the encoding',
  'entities/rang.xml feed_title': 'HTML says U+27E9; U+232A is that of HTML 4',
  'wellformed/base/http_entry_id_base_content_location.xml id': 'HTTP has no base of this header since RFC 7231',
  'wellformed/base/http_entry_id_base_docuri.xml id': 'an id is no link: it stays as it is written',
  'wellformed/cdf/item_abstract_map_description.xml summary': 'CDF is no format of today',
  'wellformed/cdf/item_href_map_link.xml link': 'CDF is no format of today',
  'wellformed/rss/entity_in_doctype.xml id': 'entities that a document defines are not expanded',
  'wellformed/rss/item_description_not_a_doctype.xml summary': 'to a browser this is a comment',
  'wellformed/sanitize/entry_summary_crazy.xml summary': 'to a browser all of the function is a script',
  'wellformed/sanitize/entry_title_crazy.xml title': 'to a browser all of the function is a script',
  'wellformed/sanitize/feed_title_crazy.xml feed_title': 'to a browser all of the function is a script',
};

interface Ran {
  readonly added: number;
  readonly message: string;
}

type Read = (
  served: { readonly bytes: Uint8Array; readonly headers?: Readonly<Record<string, string>> },
  path: string,
) => Promise<Outcome>;

export const kind: Kind = {
  title: 'feeds: what an automation reads of them',
  async run(folder) {
    const site = await startAutomationsSite();
    const { read, stop } = await serveFeeds(site);
    const values = createMeasure('values');
    const whole = createMeasure('feeds with all values');
    const encodings = createMeasure('encodings read, or refused by name');
    const dates = createMeasure('dates');
    try {
      for (const { file, headers, expected } of readRows<Feed>(folder, 'feeds.jsonl')) {
        const bytes = readFileSync(join(folder, file));
        const outcome = await read({ bytes, ...(headers && { headers }) }, file.replace(/^files\//, ''));
        const faults = compareFeed(expected, outcome);
        for (const { name, reason } of faults) {
          const id = `${file} ${name}`;
          const exception = exceptions[id.replace(/^files\//, '')];
          values.add(id, reason !== null && exception !== undefined ? `on purpose: ${exception}` : reason);
        }
        const wrong = faults.filter(({ reason }) => reason !== null);
        whole.add(file, wrong.length === 0 ? null : `${wrong.map(({ name }) => name).join(', ')} ${outcome.refusal}`);
      }
      for (const { file, encoding, headers } of readRows<Encoding>(folder, 'encodings.jsonl')) {
        const outcome = await read({ bytes: readFileSync(join(folder, file)), ...(headers && { headers }) }, file);
        encodings.add(file, judgeEncoding(encoding, outcome));
      }
      for (const { text, expected } of readRows<FeedDate>(folder, 'dates.jsonl')) {
        const { entries } = await read({ bytes: Buffer.from(rssWithDate(text)) }, 'dates.xml');
        const date = dateText(entries[0]?.['published']);
        dates.add(text, date === dateText(expected) ? null : `${String(expected)} became ${String(date)}`);
      }
    } finally {
      await site.stop();
      stop();
    }
    return [values.row(), whole.row(), encodings.row(), dates.row()];
  },
};

/** A local server with one feed at a time, and an automation for each feed. */
async function serveFeeds(site: AutomationsSite): Promise<{ readonly read: Read; stop(): void }> {
  let served: Parameters<Read>[0] = { bytes: new Uint8Array() };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/xml', ...served.headers }).end(served.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let seen: { readonly target: string; readonly input: Entry }[] = [];
  site.work = ({ target, input }) => {
    seen.push({ target, input: input as Entry });
    return Promise.resolve({ message: 'Read.' });
  };
  return {
    async read(feed, path) {
      served = feed;
      seen = [];
      const task = await site.task({ source: { kind: 'rss', url: `http://127.0.0.1:${port}/tests/${path}` } });
      try {
        const { added, message } = (await site.cli('svc', 'task', 'run', String(task.id))) as Ran;
        if (added === 0) return { entries: [], refusal: '', message };
        const items = await site.until(task, 'completed', 'failed');
        const order = new Map(items.map(({ target, id }) => [target, id]));
        seen.sort((one, other) => (order.get(one.target) ?? 0) - (order.get(other.target) ?? 0));
        return { entries: seen.map(({ input }) => input), refusal: '' };
      } catch (error) {
        return { entries: [], refusal: error instanceof Error ? error.message : String(error) };
      } finally {
        await site.cli('svc', 'task', 'delete', String(task.id)).catch(() => null);
      }
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Values of a feed by name, and what became of each. */
function compareFeed(
  expected: Feed['expected'],
  { entries, refusal, message = '' }: Outcome,
): { name: string; reason: string | null }[] {
  const found: { name: string; reason: string | null }[] = [];
  const add = (name: string, wanted: unknown, got: unknown): void => {
    const isRight = wanted === got;
    found.push({ name, reason: isRight ? null : refusal || `"${String(wanted)}" became "${String(got)}"` });
  };
  const addText = (name: string, wanted: string, got: unknown): void =>
    add(name, plain(wanted), plain(got) === plain(wanted) ? plain(got) : collapse(got));
  if (expected.entries !== undefined) add('entries', expected.entries, entries.length);
  if (expected.feed_title !== undefined)
    addText('feed_title', expected.feed_title, entries[0]?.['feed_title'] ?? titleIn(message));
  for (const [position, fields] of Object.entries(expected.entry ?? {}))
    for (const [name, wanted] of Object.entries(fields)) {
      const entry = entries[Number(position)] ?? {};
      if (['published', 'updated', 'created'].includes(name)) add(name, dateText(wanted), dateText(entry[name]));
      else addText(name, wanted, entry[name === 'link' ? 'url' : name] ?? '');
    }
  return found;
}

/** The title of a feed without entries, which has no other way to its reader. */
const titleIn = (message: string): string => /^The feed "(.*)" has no entries\.$/s.exec(message)?.[1] ?? '';

/** Bytes that were taken must have given text without replacement characters; UTF-32 may be refused by its name. */
function judgeEncoding(encoding: string, { entries, refusal }: Outcome): string | null {
  if (refusal !== '') {
    const isNamed = refusal.toLowerCase().includes(encoding.toLowerCase().slice(0, 6));
    return isNamed ? null : `${encoding}: ${refusal}`;
  }
  const broken = entries.some((entry) => Object.values(entry).some((value) => String(value).includes('�')));
  return broken ? `${encoding}: replacement characters` : null;
}

/** The text of what is expected, which is HTML in some values and text in others. */
const plain = (html: unknown): string => collapse(textOfHtml(String(html)));

const collapse = (text: unknown): string => String(text).replace(/\s+/g, ' ').trim();

/** UTC without fractions of a second, so that two spellings of one time are equal. */
function dateText(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(Math.floor(time / 1000) * 1000).toISOString();
}

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const rssWithDate = (date: string): string =>
  `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Dates</title><item><guid>1</guid><title>One</title><pubDate>${escapeXml(date)}</pubDate></item></channel></rss>`;
