import type { HostApi } from '#plugin-api';
import { marks, type Catalogue } from './catalogue.ts';
import { createLiveCatalogue } from './live-catalogue.ts';
import { maintainIndex, worthIndexing } from './maintain-index.ts';
import { createTextMatches } from './match-texts.ts';
import { foldForSearch } from './tokens.ts';

/** Which conversations; what is left out may be anything. */
export interface LogFilter {
  readonly botId?: number | undefined;
  /** Of one of these users; 0: guests. */
  readonly userIds?: ReadonlySet<number> | undefined;
  /** Part of a message, without regard to case and accents. White space at its ends does not count. */
  readonly text?: string | undefined;
  /** Seconds since the epoch of the last message, both ends included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly feedback?: 'up' | 'down' | 'any' | undefined;
  /** Of guests alone, or of users alone. */
  readonly guest?: boolean | undefined;
  /** Only these conversations. */
  readonly ids?: ReadonlySet<number> | undefined;
}

export interface LogPage {
  readonly offset: number;
  readonly limit: number;
}

export interface FoundLogs {
  /** Of the page, newest first. */
  readonly ids: readonly number[];
  /** All that match, counted. */
  readonly total: number;
}

export interface LogSearch {
  find(filter: LogFilter, page: LogPage): Promise<FoundLogs>;
  /** Ids of all that match, newest first, as they are now. */
  all(filter: LogFilter): Promise<Uint32Array>;
  /** How many conversations there are, and in how many seconds of the epoch the first and the last ended; null: none. */
  count(): Promise<number>;
  /** Conversations by day: how many of the filter had their last message then. @param dayOf name of the day of a moment in milliseconds. */
  perDay(filter: LogFilter, dayOf: (time: number) => string): Promise<ReadonlyMap<string, number>>;
  /** See maintainIndex. */
  maintain(options?: { readonly all?: boolean; readonly purge?: boolean }): Promise<boolean>;
  /** Reads what the first search needs. */
  warmUp(): Promise<void>;
}

export interface LogSearchParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'log'>;
}

export function createLogSearch({ host }: LogSearchParts): LogSearch {
  const { database, clock, log } = host;
  const live = createLiveCatalogue({ database, clock });
  const texts = createTextMatches(database);
  let maintaining: Promise<boolean> | null = null;

  function maintain(options?: { readonly all?: boolean; readonly purge?: boolean }): Promise<boolean> {
    maintaining ??= maintainIndex({ database, log }, options).finally(() => { maintaining = null; });
    return maintaining;
  }

  /** The slots that match, as 1; null: all do, as far as texts go. */
  async function withText(catalogue: Catalogue, text: string): Promise<Uint8Array | null> {
    if (foldForSearch(text).trim() === '') return null;
    const hits = new Uint8Array(catalogue.columns().marks.length);
    const { first } = catalogue.columns();
    await texts.each(text, (ids) => {
      for (let index = 0; index < ids.length; index++) {
        // One that is not in the catalogue falls outside, or is skipped for its mark.
        const slot = (ids[index] ?? 0) - first;
        if (slot >= 0 && slot < hits.length) hits[slot] = 1;
      }
    });
    if (texts.pending() >= worthIndexing * 2) void maintain().catch((error: unknown) => { log.warn('The index of the logs could not be brought up to date.', { error }); });
    return hits;
  }

  async function walk(filter: LogFilter, visit: (catalogue: Catalogue, slot: number) => void): Promise<void> {
    const catalogue = await live.current();
    const hits = await withText(catalogue, filter.text ?? '');
    walkMatches(catalogue, { filter, hits }, (slot) => { visit(catalogue, slot); });
  }

  return {
    async find(filter, { offset, limit }) {
      const catalogue = await live.current();
      if (isEmpty(filter)) return { ids: idsOf(catalogue, offset, limit), total: catalogue.count() };
      const ids: number[] = [];
      let total = 0;
      const { first } = catalogue.columns();
      const hits = await withText(catalogue, filter.text ?? '');
      walkMatches(catalogue, { filter, hits }, (slot) => {
        if (total >= offset && ids.length < limit) ids.push(first + slot);
        total += 1;
      });
      return { ids, total };
    },
    async all(filter) {
      const ids: number[] = [];
      await walk(filter, (catalogue, slot) => { ids.push(catalogue.columns().first + slot); });
      return Uint32Array.from(ids);
    },
    count: async () => (await live.current()).count(),
    async perDay(filter, dayOf) {
      const days = createDays(dayOf);
      await walk(filter, (catalogue, slot) => { days.count(catalogue.columns().times[slot] ?? 0); });
      return days.counted;
    },
    maintain,
    async warmUp() {
      await live.current();
    },
  };
}

/** Counts by day. Those that come one after the other are often of one quarter of an hour, and no day begins within one. */
function createDays(dayOf: (time: number) => string): { readonly counted: Map<string, number>; count(time: number): void } {
  const counted = new Map<string, number>();
  let [quarter, day] = [-1, ''];
  return {
    counted,
    count(time) {
      if (Math.floor(time / 900) !== quarter) [quarter, day] = [Math.floor(time / 900), dayOf(time * 1000)];
      counted.set(day, (counted.get(day) ?? 0) + 1);
    },
  };
}

function isEmpty({ botId, userIds, text = '', from, to, feedback, guest, ids }: LogFilter): boolean {
  return botId === undefined && userIds === undefined && foldForSearch(text).trim() === '' && from === undefined && to === undefined && feedback === undefined && guest === undefined && ids === undefined;
}

/** Without a filter nothing has to be looked at on the way. */
function idsOf(catalogue: Catalogue, offset: number, limit: number): number[] {
  const { first, order, places, used, marks: present } = catalogue.columns();
  const ids: number[] = [];
  if (offset >= catalogue.count()) return ids;
  let skip = offset;
  // As many places as conversations: none of them is to be skipped.
  const start = used === catalogue.count() ? used - 1 - offset : used - 1;
  if (used === catalogue.count()) skip = 0;
  for (let place = start; place >= 0 && ids.length < limit; place--) {
    const slot = order[place] ?? 0;
    if (places[slot] !== place || present[slot] === 0) continue;
    if (skip > 0) skip -= 1;
    else ids.push(first + slot);
  }
  return ids;
}

interface Wanted {
  readonly filter: LogFilter;
  readonly hits: Uint8Array | null;
}

/** Calls `visit` for each slot that matches, newest first. One pass, without an await: nothing changes on the way. */
function walkMatches(catalogue: Catalogue, { filter, hits }: Wanted, visit: (slot: number) => void): void {
  const { order, places, used, marks: flags, bots, users, times, first } = catalogue.columns();
  const { botId, userIds, from = 0, to = Number.MAX_SAFE_INTEGER, feedback, guest, ids } = filter;
  const rated = feedback === undefined ? 0 : { up: marks.liked, down: marks.disliked, any: marks.liked | marks.disliked }[feedback];
  const ofUsers = userIds === undefined ? null : membership(userIds);
  for (let place = used - 1; place >= 0; place--) {
    const slot = order[place] ?? 0;
    if (hits !== null && hits[slot] !== 1) continue;
    const flag = flags[slot] ?? 0;
    if (flag === 0 || places[slot] !== place) continue;
    if (botId !== undefined && bots[slot] !== botId) continue;
    if (ofUsers !== null && ofUsers[users[slot] ?? 0] !== 1) continue;
    if (guest !== undefined && (users[slot] === 0) !== guest) continue;
    const time = times[slot] ?? 0;
    if (time < from || time > to || (rated !== 0 && (flag & rated) === 0) || (ids !== undefined && !ids.has(first + slot))) continue;
    visit(slot);
  }
}

/** A byte for each user: asked a million times, it has to be quicker than a set. */
function membership(ids: ReadonlySet<number>): Uint8Array {
  let highest = 0;
  for (const id of ids) if (id > highest) highest = id;
  const members = new Uint8Array(highest + 1);
  for (const id of ids) members[id] = 1;
  return members;
}
