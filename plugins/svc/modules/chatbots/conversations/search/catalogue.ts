import { endianness } from 'node:os';
import { wholeByte } from './id-bits.ts';

/** What the logs are filtered and sorted by, of one conversation. */
export interface CatalogueEntry {
  readonly id: number;
  readonly botId: number;
  readonly userId: number;
  /** Seconds since the epoch. */
  readonly lastMessage: number;
  readonly liked: boolean;
  readonly disliked: boolean;
}

export const marks = { present: 1, liked: 2, disliked: 4 } as const;

/**
 * All conversations in memory, 21 bytes each, in the order of the logs: by the second of their last message, then by id. A
 * filter reads its columns from one end to the other, a million in a few milliseconds, so that totals are counted, never
 * guessed, and the last page costs what the first one does.
 */
export interface Catalogue {
  readonly count: () => number;
  /** Adds or updates an entry. */
  set(entry: CatalogueEntry): void;
  delete(id: number): void;
  /** Adds many in any order. Call `sort` afterwards. */
  load(entries: readonly CatalogueEntry[]): void;
  sort(): void;
  readonly columns: () => Columns;
}

/** Indexed by row, oldest first. A row is in use if its mark is not 0. */
export interface Columns {
  /** Id of slot 0, a multiple of 8: a conversation's slot is its id less this. */
  readonly first: number;
  /** A bit for each slot: whether there is such a conversation. */
  readonly present: Uint8Array;
  /** By slot: the row plus one, or 0 if the conversation does not exist. */
  readonly rows: Uint32Array;
  readonly slots: Uint32Array;
  readonly marks: Uint8Array;
  readonly bots: Uint32Array;
  readonly users: Uint32Array;
  readonly times: Uint32Array;
  /** Number of rows. */
  readonly used: number;
  /** Highest id of a user. */
  readonly highestUser: number;
}

interface Store {
  first: number;
  slots: Uint32Array;
  marks: Uint8Array;
  bots: Uint32Array;
  users: Uint32Array;
  times: Uint32Array;
  used: number;
  /** By slot: the row plus one, or 0 if the conversation does not exist. */
  rows: Uint32Array;
  present: Uint8Array;
  highestUser: number;
}

const firstRoom = 1024;

export function createCatalogue(): Catalogue {
  const store: Store = {
    first: -1,
    used: 0,
    highestUser: 0,
    rows: new Uint32Array(firstRoom),
    present: new Uint8Array(firstRoom / 8),
    ...room(firstRoom),
  };
  let count = 0;

  function slotFor(id: number): number {
    if (store.first < 0) store.first = wholeByte(id);
    // With spare room, so that a series of descending ids does not move everything each time.
    if (id < store.first)
      shiftSlots(store, store.first - wholeByte(Math.max(0, Math.min(id, store.first - store.rows.length))));
    const slot = id - store.first;
    if (slot >= store.rows.length) growSlots(store, Math.max(slot + 1, store.rows.length * 2));
    return slot;
  }

  /** The row of a conversation, or -1. */
  function rowAt(slot: number): number {
    return (store.rows[slot] ?? 0) - 1;
  }

  return {
    count: () => count,
    columns: () => store,
    set(entry) {
      const slot = slotFor(entry.id);
      const known = rowAt(slot);
      if (known < 0) {
        count += 1;
        setPresent(store, slot);
      }
      if (known >= 0 && store.times[known] === entry.lastMessage) return fill(store, known, entry);
      if (known >= 0) store.marks[known] = 0;
      fill(store, insertRow(store, slot, entry.lastMessage), entry);
    },
    delete(id) {
      const slot = id - store.first;
      const row = store.first < 0 || slot < 0 ? -1 : rowAt(slot);
      if (row < 0) return;
      store.marks[row] = 0;
      store.rows[slot] = 0;
      store.present[slot >> 3] = (store.present[slot >> 3] ?? 0) & ~(1 << (slot & 7));
      count -= 1;
    },
    load(entries) {
      for (const entry of entries) {
        const slot = slotFor(entry.id);
        let row = rowAt(slot);
        if (row < 0) {
          if (store.used >= store.marks.length) grow(store);
          row = store.used++;
          store.slots[row] = slot;
          store.rows[slot] = row + 1;
          setPresent(store, slot);
          count += 1;
        }
        fill(store, row, entry);
      }
    },
    sort: () => {
      sortAll(store);
    },
  };
}

function setPresent({ present }: Store, slot: number): void {
  present[slot >> 3] = (present[slot >> 3] ?? 0) | (1 << (slot & 7));
}

function fill(store: Store, row: number, entry: CatalogueEntry): void {
  store.bots[row] = entry.botId;
  store.users[row] = entry.userId;
  if (entry.userId > store.highestUser) store.highestUser = entry.userId;
  store.times[row] = entry.lastMessage;
  store.marks[row] = marks.present | (entry.liked ? marks.liked : 0) | (entry.disliked ? marks.disliked : 0);
}

function room(size: number): Pick<Store, 'slots' | 'marks' | 'bots' | 'users' | 'times'> {
  return {
    slots: new Uint32Array(size),
    marks: new Uint8Array(size),
    bots: new Uint32Array(size),
    users: new Uint32Array(size),
    times: new Uint32Array(size),
  };
}

/** Copies one row of `from`. */
function copyRow(
  from: Store,
  row: number,
  { to, at }: { readonly to: ReturnType<typeof room>; readonly at: number },
): void {
  to.slots[at] = from.slots[row] ?? 0;
  to.marks[at] = from.marks[row] ?? 0;
  to.bots[at] = from.bots[row] ?? 0;
  to.users[at] = from.users[row] ?? 0;
  to.times[at] = from.times[row] ?? 0;
}

/** @param shift a multiple of 8. */
function growSlots(store: Store, size: number, shift = 0): void {
  const rows = new Uint32Array(size);
  rows.set(store.rows, shift);
  const present = new Uint8Array(Math.ceil(size / 8));
  present.set(store.present, shift / 8);
  Object.assign(store, { rows, present });
}

/** An id below all others: they are read in the order of their last changes. */
function shiftSlots(store: Store, by: number): void {
  growSlots(store, store.rows.length + by, by);
  for (let row = 0; row < store.used; row++) store.slots[row] = (store.slots[row] ?? 0) + by;
  store.first -= by;
}

/** Drops unused rows, or doubles the room if that is not enough. */
function grow(store: Store): void {
  let alive = 0;
  for (let row = 0; row < store.used; row++) if (store.marks[row] !== 0) alive += 1;
  const larger = room(alive * 4 < store.marks.length * 3 ? store.marks.length : store.marks.length * 2);
  let used = 0;
  for (let row = 0; row < store.used; row++) {
    if (store.marks[row] === 0) continue;
    copyRow(store, row, { to: larger, at: used });
    store.rows[store.slots[row] ?? 0] = used + 1;
    used += 1;
  }
  Object.assign(store, larger, { used });
}

/** Inserts a row in the order of times, which is nearly always the last one. The former row stays unused. */
function insertRow(store: Store, slot: number, time: number): number {
  if (store.used >= store.marks.length) grow(store);
  let row = store.used;
  while (row > 0 && (store.marks[row - 1] === 0 || isBefore(slot, time, { store, row: row - 1 }))) row -= 1;
  // Unused rows may stay before it.
  while (row < store.used && store.marks[row] === 0) row += 1;
  if (row < store.used) {
    for (const column of [store.slots, store.marks, store.bots, store.users, store.times])
      column.copyWithin(row + 1, row, store.used);
    for (let moved = row + 1; moved <= store.used; moved++)
      if (store.marks[moved] !== 0) store.rows[store.slots[moved] ?? 0] = moved + 1;
  }
  store.slots[row] = slot;
  store.rows[slot] = row + 1;
  store.used += 1;
  return row;
}

function isBefore(
  slot: number,
  time: number,
  { store, row }: { readonly store: Store; readonly row: number },
): boolean {
  const other = store.times[row] ?? 0;
  return time === other ? slot < (store.slots[row] ?? 0) : time < other;
}

/** Times and slots side by side are numbers of 64 bits, which are sorted without a function that compares. */
function sortAll(store: Store): void {
  const keys = new BigUint64Array(store.used);
  const halves = new Uint32Array(keys.buffer);
  const low = endianness() === 'LE' ? 0 : 1;
  let used = 0;
  for (let row = 0; row < store.used; row++) {
    if (store.marks[row] === 0) continue;
    halves[used * 2 + low] = store.slots[row] ?? 0;
    halves[used * 2 + 1 - low] = store.times[row] ?? 0;
    used += 1;
  }
  keys.subarray(0, used).sort();
  const sorted = room(Math.max(firstRoom, Math.ceil(used * 1.25)));
  for (let at = 0; at < used; at++) {
    const slot = halves[at * 2 + low] ?? 0;
    copyRow(store, (store.rows[slot] ?? 0) - 1, { to: sorted, at });
    store.rows[slot] = at + 1;
  }
  Object.assign(store, sorted, { used });
}
