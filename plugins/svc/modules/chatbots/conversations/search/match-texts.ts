import { segmentStates, tables } from '../conversation-tables.ts';
import { asConversations } from './merge-segments.ts';
import { yieldToEventLoop } from './segment-store.ts';
import { addRow, addSome, idBits, noIds, withIds, type IdBits } from './id-bits.ts';
import { bySegment, markPair, type MarkTexts, type PairMarks } from './match-pair.ts';
import { createMarkPhrase, type PhrasePart } from './phrases.ts';
import { planSearch, type Plan } from './plan.ts';
import { hasText, markTexts, textBits } from './postings.ts';
import {
  findWords,
  readPositions,
  readTexts,
  type FoundWord,
  type PhraseWords,
  type PostingsRow,
} from './read-postings.ts';
import { cutTexts } from './segment-builder.ts';
import type { IndexDatabase } from './segment-store.ts';
import { foldForSearch, isWord } from './tokens.ts';

/** Conversations with a message that holds a text. */
export interface TextMatches {
  /** Those that match, or did before they were deleted. */
  find(text: string): Promise<IdBits>;
  /** Reads what the first search needs. */
  warmUp(): Promise<void>;
  /** How many messages were looked through one by one by the last search: those that are not indexed. */
  readonly pending: () => number;
}

/** Upper bound of words that match the start or end of a phrase. With more, the texts are scanned. */
const mostWords = 5000;
const maxCachedResults = 24;
const textsAtOnce = 500;

interface Segment {
  readonly id: number;
  readonly conversations: Uint32Array;
  readonly lowest: number;
  readonly highest: number;
  /** Each conversation's id is one more than the one before: bits of texts are bits of ids. */
  readonly isRow: boolean;
}

/** The index as it was at one generation. */
interface Generation {
  readonly number: number;
  readonly segments: ReadonlyMap<number, Segment>;
  /** By conversation: the last segment whose texts of it do not count. */
  readonly dead: ReadonlyMap<number, number>;
  /** By segment: the words whose pairs it holds. */
  readonly common: ReadonlyMap<number, ReadonlySet<string>>;
  /** Ids of conversations that the segments hold are none below and none above. */
  readonly lowest: number;
  readonly highest: number;
}

/**
 * Searches the index, and scans the messages that are not indexed yet. Results of the index are cached for the next page
 * until its generation changes.
 */
export function createTextMatches(database: IndexDatabase): TextMatches {
  let generation: Generation = {
    number: -1,
    segments: new Map(),
    dead: new Map(),
    common: new Map(),
    lowest: 0,
    highest: -1,
  };
  let results = new Map<string, IdBits>();
  let pending = 0;

  async function refresh(): Promise<Generation> {
    const row = (await database.knex(tables.state).where({ name: 'index_generation' }).first('value')) as
      { value: number } | undefined;
    const number = Number(row?.value ?? 0);
    if (number === generation.number) return generation;
    generation = await readGeneration(database, number, generation.segments);
    results = new Map();
    return generation;
  }

  return {
    pending: () => pending,
    async warmUp() {
      await refresh();
    },
    async find(given) {
      const text = foldForSearch(given).trim();
      // Before the index: a message that is indexed in between is found twice, and never missed.
      const waiting = await searchPending(database, text);
      pending = waiting.messages;
      const current = await refresh();
      const known = results.get(text);
      const found = known ?? (await searchIndex(database, current, text));
      if (known === undefined) keep(results, text, found);
      return withIds(found, waiting.found);
    },
  };
}

function keep(results: Map<string, IdBits>, text: string, found: IdBits): void {
  results.set(text, found);
  const [oldest] = results.keys();
  if (results.size > maxCachedResults && oldest !== undefined) results.delete(oldest);
}

async function searchPending(
  database: IndexDatabase,
  text: string,
): Promise<{ readonly messages: number; readonly found: readonly number[] }> {
  const sql = `SELECT conversation_id, content FROM ${tables.messages} WHERE indexed = 0`;
  const rows = await database.direct<Rows | Promise<Rows>>(
    {
      sqlite: (connection) => connection.rows(sql),
      postgresql: async (connection) => (await connection.rows(sql)).rows,
    },
    { readOnly: true },
  );
  const found: number[] = [];
  for (const [index, [conversationId, content]] of rows.entries()) {
    if (foldForSearch(String(content)).includes(text)) found.push(Number(conversationId));
    if (index % 5000 === 4999) await yieldToEventLoop();
  }
  return { messages: rows.length, found };
}

type Rows = readonly (readonly unknown[])[];

/** Segments that are known are not read again. */
async function readGeneration(
  database: IndexDatabase,
  number: number,
  before: ReadonlyMap<number, Segment>,
): Promise<Generation> {
  const ids = (await database.knex(tables.segments).where({ state: segmentStates.live }).pluck('id')) as number[];
  const missing = ids.filter((id) => !before.has(id));
  const segments = new Map(
    ids.flatMap((id) => {
      const segment = before.get(id);
      return segment === undefined ? [] : [[id, segment] as const];
    }),
  );
  for (const id of missing) {
    const row = (await database.knex(tables.segments).where({ id }).first('conversations')) as
      { conversations: Uint8Array } | undefined;
    if (row !== undefined) segments.set(id, segmentOf(id, asConversations(row.conversations)));
  }
  const dead = (await database.knex(tables.indexTombstones).select('conversation_id', 'segment_id')) as {
    conversation_id: number;
    segment_id: number;
  }[];
  const known = [...segments.values()].filter(({ conversations }) => conversations.length > 0);
  return {
    number,
    segments,
    dead: new Map(dead.map((row) => [row.conversation_id, row.segment_id])),
    common: await readCommon(database, segments),
    lowest: known.reduce((least, segment) => Math.min(least, segment.lowest), known[0]?.lowest ?? 0),
    highest: known.reduce((most, segment) => Math.max(most, segment.highest), -1),
  };
}

async function readCommon(
  { knex }: IndexDatabase,
  segments: ReadonlyMap<number, Segment>,
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  const rows = (await knex(tables.terms)
    .join(tables.postings, `${tables.postings}.term_id`, `${tables.terms}.id`)
    .where('kind', 3)
    .select('segment_id', 'term')) as { segment_id: number; term: string }[];
  const common = new Map<number, Set<string>>();
  for (const { segment_id: id, term } of rows) {
    if (!segments.has(id)) continue;
    const terms = common.get(id) ?? new Set();
    common.set(id, terms.add(term));
  }
  return common;
}

function segmentOf(id: number, conversations: Uint32Array): Segment {
  const first = conversations[0] ?? 0;
  let [lowest, highest, isRow] = [first, -1, true];
  for (let text = 0; text < conversations.length; text++) {
    const conversation = conversations[text] ?? 0;
    if (conversation < lowest) lowest = conversation;
    if (conversation > highest) highest = conversation;
    if (conversation !== first + text) isRow = false;
  }
  return { id, conversations, lowest, highest, isRow };
}

async function searchIndex(database: IndexDatabase, generation: Generation, text: string): Promise<IdBits> {
  const hits = createHits(generation);
  const plan = planSearch(text);
  const whole = plan.kind === 'texts' || !(await markByPlan({ database, generation }, plan, hits));
  if (whole) return withIds(noIds, await lookThrough(database, [...hits.all()], text));
  if (plan.kind === 'term') return hits.found();
  const unsure = hits.of(await readTexts(database, { by: 'term', kind: 2, term: cutTexts }));
  const found = hits.found();
  return unsure.size === 0 ? found : withIds(found, await lookThrough(database, [...unsure], text));
}

interface Searching {
  readonly database: IndexDatabase;
  readonly generation: Generation;
}

/** Returns false if the index cannot decide. */
async function markByPlan({ database, generation }: Searching, plan: Plan, hits: Hits): Promise<boolean> {
  if (plan.kind === 'term')
    hits.mark(await readTexts(database, { by: 'term', kind: plan.isGram ? 1 : 0, term: plan.term }));
  else if (plan.kind === 'part') hits.mark(await readTexts(database, { by: 'part', part: plan.part }));
  else if (plan.kind === 'phrase') return markByPhrase({ database, generation }, plan, hits);
  return true;
}

async function markByPhrase(
  { database, generation }: Searching,
  { terms, glues }: Extract<Plan, { kind: 'phrase' }>,
  hits: Hits,
): Promise<boolean> {
  const parts: (readonly FoundWord[])[] = [];
  for (const [index, word] of terms.entries()) {
    const choice: PhraseWords =
      !isWord(word) || (index > 0 && index < terms.length - 1)
        ? { is: word }
        : index === 0
          ? { ends: word }
          : { begins: word };
    const found = await findWords(database, choice, mostWords + 1);
    if (found.length === 0) return true;
    if (found.length > mostWords) return false;
    parts.push(found);
  }
  const [first, second] = parts;
  if (parts.length === 2 && first !== undefined && second !== undefined) {
    await markPair({ database, common: generation.common }, { first, second, glue: glues[0] ?? 0 }, hits);
    return true;
  }
  await markLongPhrase(database, { parts, glues }, hits);
  return true;
}

async function markLongPhrase(
  database: IndexDatabase,
  { parts, glues }: { readonly parts: readonly (readonly FoundWord[])[]; readonly glues: readonly number[] },
  hits: Hits,
): Promise<void> {
  const segments = bySegment(await readPositions(database, [...new Set(parts.flat().map(({ id }) => id))]));
  const markPhrase = createMarkPhrase();
  for (const [segmentId, terms] of segments) {
    const listed = parts.map((found, index): PhrasePart => ({
      candidates: found.flatMap(({ id }) => terms.get(id) ?? []),
      glue: index === parts.length - 1 ? null : (glues[index] ?? 0),
    }));
    hits.markIn(segmentId, (bits, size) => {
      markPhrase(listed, bits, size);
    });
  }
}

interface Hits extends PairMarks {
  /** Conversations that were marked. */
  found(): IdBits;
  /** Ids of conversations of these rows alone. */
  of(rows: readonly PostingsRow[]): ReadonlySet<number>;
  all(): ReadonlySet<number>;
}

function createHits({ segments, dead, lowest, highest }: Generation): Hits {
  const marked = new Map<number, Uint8Array>();
  const counts = (conversation: number, segmentId: number): boolean => (dead.get(conversation) ?? 0) < segmentId;

  /** Into these bits by segment. */
  function markInto(bitsOf: Map<number, Uint8Array>, segmentId: number, mark: MarkTexts): void {
    const segment = segments.get(segmentId);
    // One that is being written, or was replaced.
    if (segment === undefined) return;
    const bits = bitsOf.get(segmentId) ?? textBits(segment.conversations.length);
    bitsOf.set(segmentId, bits);
    mark(bits, segment.conversations.length);
  }

  function markRows(bitsOf: Map<number, Uint8Array>, rows: readonly PostingsRow[]): void {
    for (const row of rows)
      markInto(bitsOf, row.segmentId, (bits) => {
        markTexts(row.texts, bits);
      });
  }

  /** Conversations of the texts that are marked. */
  function conversationsOf(from: ReadonlyMap<number, Uint8Array>): Set<number> {
    const found = new Set<number>();
    for (const [segmentId, bits] of from) {
      for (const [text, conversation] of (segments.get(segmentId)?.conversations ?? []).entries())
        if (hasText(bits, text) && counts(conversation, segmentId)) found.add(conversation);
    }
    return found;
  }

  /** Without the texts that do not count any more. */
  function withoutDead(bits: Uint8Array, { id, conversations }: Segment): Uint8Array {
    const counting = bits.slice();
    for (let text = 0; text < conversations.length; text++) {
      if (hasText(bits, text) && !counts(conversations[text] ?? 0, id))
        counting[text >> 3] = (counting[text >> 3] ?? 0) & ~(1 << (text & 7));
    }
    return counting;
  }

  return {
    mark: (rows) => {
      markRows(marked, rows);
    },
    markIn: (segmentId, mark) => {
      markInto(marked, segmentId, mark);
    },
    found() {
      const found = idBits(lowest, highest);
      for (const [segmentId, bits] of marked) {
        const segment = segments.get(segmentId);
        if (segment === undefined) continue;
        const counting = dead.size === 0 ? bits : withoutDead(bits, segment);
        if (segment.isRow) addRow(found, counting, segment.lowest);
        else addSome(found, counting, segment.conversations);
      }
      return found;
    },
    of(rows) {
      const own = new Map<number, Uint8Array>();
      markRows(own, rows);
      return conversationsOf(own);
    },
    all: () =>
      conversationsOf(
        new Map([...segments.values()].map(({ id, conversations }) => [id, textBits(conversations.length).fill(255)])),
      ),
  };
}

/** Scans the texts themselves. Slow for many texts; used if the index cannot decide. */
async function lookThrough({ knex }: IndexDatabase, conversations: readonly number[], text: string): Promise<number[]> {
  const found = new Set<number>();
  for (let start = 0; start < conversations.length; start += textsAtOnce) {
    const ids = conversations.slice(start, start + textsAtOnce);
    const rows = (await knex(tables.messages).whereIn('conversation_id', ids).select('conversation_id', 'content')) as {
      conversation_id: number;
      content: string;
    }[];
    for (const { conversation_id, content } of rows)
      if (foldForSearch(content).includes(text)) found.add(conversation_id);
    await yieldToEventLoop();
  }
  return [...found];
}
