import { segmentStates, tables } from '../conversation-tables.ts';
import { asConversations } from './merge-segments.ts';
import { nextTurn } from './write-segment.ts';
import { markPhrase, type PhrasePart } from './phrases.ts';
import { planSearch, type Plan } from './plan.ts';
import { decodePlaces, decodeTexts, markTexts, type Places } from './postings.ts';
import { findWords, readPlaces, readTexts, type PhraseWords, type PostingsRow } from './read-postings.ts';
import { cutTexts } from './segment-builder.ts';
import type { IndexDatabase } from './segment-store.ts';
import { foldForSearch, isWord } from './tokens.ts';

/** Conversations with a message that holds a text. */
export interface TextMatches {
  /** @param take called with conversations that match, or did before they were deleted; some more than once. */
  each(text: string, take: (conversations: ArrayLike<number>) => void): Promise<void>;
  /** How many messages were looked through one by one by the last search: those that are not indexed. */
  readonly pending: () => number;
}

/** Words a beginning or an end of a phrase may stand for; with more of them the texts are looked at. */
const mostWords = 5000;
const keptResults = 24;
const textsAtOnce = 500;

interface Segment {
  readonly id: number;
  readonly conversations: Uint32Array;
}

/** The index as it was at one generation. */
interface Generation {
  readonly number: number;
  readonly segments: ReadonlyMap<number, Segment>;
  /** By conversation: the last segment whose texts of it do not count. */
  readonly dead: ReadonlyMap<number, number>;
}

/**
 * Searches the index of words, and looks through the messages that it does not hold yet. What was found in the index is kept
 * for the next page: segments do not change, and a generation tells when there are others.
 */
export function createTextMatches(database: IndexDatabase): TextMatches {
  let generation: Generation = { number: -1, segments: new Map(), dead: new Map() };
  let results = new Map<string, Uint32Array>();
  let pending = 0;

  async function refresh(): Promise<Generation> {
    const row = (await database.knex(tables.state).where({ name: 'index_generation' }).first('value')) as { value: number } | undefined;
    const number = Number(row?.value ?? 0);
    if (number === generation.number) return generation;
    generation = await readGeneration(database, number, generation.segments);
    results = new Map();
    return generation;
  }

  return {
    pending: () => pending,
    async each(given, take) {
      const text = foldForSearch(given).trim();
      // Before the index: a message that is indexed in between is found twice, and never missed.
      const waiting = await searchPending(database, text);
      pending = waiting.messages;
      take(waiting.found);
      const current = await refresh();
      const known = results.get(text);
      const found = known ?? (await searchIndex(database, current, text));
      if (known === undefined) keep(results, text, found);
      take(found);
    },
  };
}

function keep(results: Map<string, Uint32Array>, text: string, found: Uint32Array): void {
  results.set(text, found);
  const [oldest] = results.keys();
  if (results.size > keptResults && oldest !== undefined) results.delete(oldest);
}

async function searchPending(database: IndexDatabase, text: string): Promise<{ readonly messages: number; readonly found: readonly number[] }> {
  const sql = `SELECT conversation_id, content FROM ${tables.messages} WHERE indexed = 0`;
  const rows = await database.direct<Rows | Promise<Rows>>({ sqlite: (connection) => connection.rows(sql), postgresql: async (connection) => (await connection.rows(sql)).rows });
  const found: number[] = [];
  for (const [index, [conversationId, content]] of rows.entries()) {
    if (foldForSearch(String(content)).includes(text)) found.push(Number(conversationId));
    if (index % 5000 === 4999) await nextTurn();
  }
  return { messages: rows.length, found };
}

type Rows = readonly (readonly unknown[])[];

/** Segments that are known are not read again. */
async function readGeneration(database: IndexDatabase, number: number, known: ReadonlyMap<number, Segment>): Promise<Generation> {
  const ids = (await database.knex(tables.segments).where({ state: segmentStates.live }).pluck('id')) as number[];
  const missing = ids.filter((id) => !known.has(id));
  const segments = new Map(ids.flatMap((id) => { const segment = known.get(id); return segment === undefined ? [] : [[id, segment] as const]; }));
  for (const id of missing) {
    const row = (await database.knex(tables.segments).where({ id }).first('conversations')) as { conversations: Uint8Array } | undefined;
    if (row !== undefined) segments.set(id, { id, conversations: asConversations(row.conversations) });
  }
  const dead = (await database.knex(tables.dead).select('conversation_id', 'segment_id')) as { conversation_id: number; segment_id: number }[];
  return { number, segments, dead: new Map(dead.map((row) => [row.conversation_id, row.segment_id])) };
}

/** Ids of conversations. */
async function searchIndex(database: IndexDatabase, generation: Generation, text: string): Promise<Uint32Array> {
  const hits = createHits(generation);
  const plan = planSearch(text);
  const whole = plan.kind === 'texts' || !(await markByPlan(database, plan, hits));
  if (plan.kind === 'term') return hits.found();
  const unsure = whole ? hits.all() : hits.of(await readTexts(database, { by: 'term', kind: 2, term: cutTexts }));
  // A set of all that was found takes longer than finding it: mostly there is no need.
  if (unsure.size === 0) return hits.found();
  const found = new Set(whole ? [] : hits.found());
  const more = await lookThrough(database, [...unsure].filter((id) => !found.has(id)), text);
  return Uint32Array.from([...found, ...more]);
}

/** Answers false when the index cannot tell. */
async function markByPlan(database: IndexDatabase, plan: Plan, hits: Hits): Promise<boolean> {
  if (plan.kind === 'term') hits.mark(await readTexts(database, { by: 'term', kind: plan.isGram ? 1 : 0, term: plan.term }));
  else if (plan.kind === 'part') hits.mark(await readTexts(database, { by: 'part', part: plan.part }));
  else if (plan.kind === 'phrase') return markByPhrase(database, plan, hits);
  return true;
}

async function markByPhrase(database: IndexDatabase, { words, glues }: Extract<Plan, { kind: 'phrase' }>, hits: Hits): Promise<boolean> {
  const parts: number[][] = [];
  for (const [index, word] of words.entries()) {
    const choice: PhraseWords = !isWord(word) || (index > 0 && index < words.length - 1) ? { is: word } : index === 0 ? { ends: word } : { begins: word };
    const ids = await findWords(database, choice, mostWords + 1);
    if (ids.length === 0) return true;
    if (ids.length > mostWords) return false;
    parts.push(ids);
  }
  const bySegment = new Map<number, Map<number, Places>>();
  const rows = await readPlaces(database, [...new Set(parts.flat())]);
  for (const row of rows) {
    const segment = bySegment.get(row.segmentId) ?? new Map<number, Places>();
    bySegment.set(row.segmentId, segment.set(row.termId, decodePlaces(decodeTexts(row.texts), row.places ?? new Uint8Array(0))));
  }
  for (const [segmentId, places] of bySegment) {
    const listed = parts.map((ids, index): PhrasePart => ({
      lists: ids.flatMap((id) => { const list = places.get(id); return list === undefined ? [] : [list]; }),
      glue: index === parts.length - 1 ? null : (glues[index] ?? 0),
    }));
    hits.markIn(segmentId, (marks) => { markPhrase(listed, marks); });
  }
  return true;
}

interface Hits {
  mark(rows: readonly PostingsRow[]): void;
  markIn(segmentId: number, mark: (marks: Uint8Array) => void): void;
  /** Ids of conversations that were marked. */
  found(): Uint32Array;
  /** Ids of conversations of these rows alone. */
  of(rows: readonly PostingsRow[]): ReadonlySet<number>;
  all(): ReadonlySet<number>;
}

function createHits({ segments, dead }: Generation): Hits {
  const marked = new Map<number, Uint8Array>();
  const counts = (conversation: number, segmentId: number): boolean => (dead.get(conversation) ?? 0) < segmentId;

  function markIn(segmentId: number, mark: (marks: Uint8Array) => void): void {
    const segment = segments.get(segmentId);
    // One that is being written, or was replaced.
    if (segment === undefined) return;
    const marks = marked.get(segmentId) ?? new Uint8Array(segment.conversations.length);
    marked.set(segmentId, marks);
    mark(marks);
  }

  function collect(from: ReadonlyMap<number, Uint8Array>): Uint32Array {
    const found = new Uint32Array([...from.values()].reduce((total, marks) => total + marks.length, 0));
    let count = 0;
    for (const [segmentId, marks] of from) {
      const conversations = segments.get(segmentId)?.conversations ?? new Uint32Array(0);
      for (let text = 0; text < marks.length; text++) {
        if (marks[text] === 1 && (dead.size === 0 || counts(conversations[text] ?? 0, segmentId))) found[count++] = conversations[text] ?? 0;
      }
    }
    return found.slice(0, count);
  }

  return {
    mark: (rows) => { for (const row of rows) markIn(row.segmentId, (marks) => { markTexts(row.texts, marks); }); },
    markIn,
    found: () => collect(marked),
    of(rows) {
      const own = createHits({ number: 0, segments, dead });
      own.mark(rows);
      return new Set(own.found());
    },
    all: () => new Set(collect(new Map([...segments.values()].map(({ id, conversations }) => [id, new Uint8Array(conversations.length).fill(1)])))),
  };
}

/** Reads the texts themselves: for what the index cannot tell. Right, and slow where there are many. */
async function lookThrough({ knex }: IndexDatabase, conversations: readonly number[], text: string): Promise<number[]> {
  const found = new Set<number>();
  for (let start = 0; start < conversations.length; start += textsAtOnce) {
    const ids = conversations.slice(start, start + textsAtOnce);
    const rows = (await knex(tables.messages).whereIn('conversation_id', ids).select('conversation_id', 'content')) as { conversation_id: number; content: string }[];
    for (const { conversation_id, content } of rows) if (foldForSearch(content).includes(text)) found.add(conversation_id);
    await nextTurn();
  }
  return [...found];
}
