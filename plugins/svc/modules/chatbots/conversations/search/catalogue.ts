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
  /** Adds it, or changes what is known of it. */
  set(entry: CatalogueEntry): void;
  delete(id: number): void;
  /** Adds many in any order; `sort` has to follow. */
  load(entries: readonly CatalogueEntry[]): void;
  sort(): void;
  readonly columns: () => Columns;
}

/** Indexed by place, the oldest at 0. A place counts where its mark is not 0. */
export interface Columns {
  /** Id of slot 0, a multiple of 8: a conversation's slot is its id less this. */
  readonly first: number;
  /** A bit for each slot: whether there is such a conversation. */
  readonly present: Uint8Array;
  /** By slot: its place and one more; 0: no such conversation. */
  readonly places: Uint32Array;
  readonly slots: Uint32Array;
  readonly marks: Uint8Array;
  readonly bots: Uint32Array;
  readonly users: Uint32Array;
  readonly times: Uint32Array;
  /** Places that are in use. */
  readonly used: number;
  /** No user's id is above it. */
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
  /** By slot: its place and one more; 0: no such conversation. */
  places: Uint32Array;
  present: Uint8Array;
  highestUser: number;
}

const firstRoom = 1024;

export function createCatalogue(): Catalogue {
  const store: Store = {
    first: -1,
    used: 0,
    highestUser: 0,
    places: new Uint32Array(firstRoom),
    present: new Uint8Array(firstRoom / 8),
    ...room(firstRoom),
  };
  let count = 0;

  function slotFor(id: number): number {
    if (store.first < 0) store.first = wholeByte(id);
    // With room for more of them, so that a row of lower and lower ids does not move everything each time.
    if (id < store.first)
      shiftSlots(store, store.first - wholeByte(Math.max(0, Math.min(id, store.first - store.places.length))));
    const slot = id - store.first;
    if (slot >= store.places.length) growSlots(store, Math.max(slot + 1, store.places.length * 2));
    return slot;
  }

  /** Where a conversation stands; -1: nowhere. */
  function placeOf(slot: number): number {
    return (store.places[slot] ?? 0) - 1;
  }

  return {
    count: () => count,
    columns: () => store,
    set(entry) {
      const slot = slotFor(entry.id);
      const known = placeOf(slot);
      if (known < 0) {
        count += 1;
        setPresent(store, slot);
      }
      if (known >= 0 && store.times[known] === entry.lastMessage) return fill(store, known, entry);
      if (known >= 0) store.marks[known] = 0;
      fill(store, makePlace(store, slot, entry.lastMessage), entry);
    },
    delete(id) {
      const slot = id - store.first;
      const place = store.first < 0 || slot < 0 ? -1 : placeOf(slot);
      if (place < 0) return;
      store.marks[place] = 0;
      store.places[slot] = 0;
      store.present[slot >> 3] = (store.present[slot >> 3] ?? 0) & ~(1 << (slot & 7));
      count -= 1;
    },
    load(entries) {
      for (const entry of entries) {
        const slot = slotFor(entry.id);
        let place = placeOf(slot);
        if (place < 0) {
          if (store.used >= store.marks.length) grow(store);
          place = store.used++;
          store.slots[place] = slot;
          store.places[slot] = place + 1;
          setPresent(store, slot);
          count += 1;
        }
        fill(store, place, entry);
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

function fill(store: Store, place: number, entry: CatalogueEntry): void {
  store.bots[place] = entry.botId;
  store.users[place] = entry.userId;
  if (entry.userId > store.highestUser) store.highestUser = entry.userId;
  store.times[place] = entry.lastMessage;
  store.marks[place] = marks.present | (entry.liked ? marks.liked : 0) | (entry.disliked ? marks.disliked : 0);
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

/** Copies one place of `from`. */
function copyPlace(
  from: Store,
  place: number,
  { to, at }: { readonly to: ReturnType<typeof room>; readonly at: number },
): void {
  to.slots[at] = from.slots[place] ?? 0;
  to.marks[at] = from.marks[place] ?? 0;
  to.bots[at] = from.bots[place] ?? 0;
  to.users[at] = from.users[place] ?? 0;
  to.times[at] = from.times[place] ?? 0;
}

/** @param shift a multiple of 8. */
function growSlots(store: Store, size: number, shift = 0): void {
  const places = new Uint32Array(size);
  places.set(store.places, shift);
  const present = new Uint8Array(Math.ceil(size / 8));
  present.set(store.present, shift / 8);
  Object.assign(store, { places, present });
}

/** An id below all others: they are read in the order of their last changes. */
function shiftSlots(store: Store, by: number): void {
  growSlots(store, store.places.length + by, by);
  for (let place = 0; place < store.used; place++) store.slots[place] = (store.slots[place] ?? 0) + by;
  store.first -= by;
}

/** Leaves out places that do not count any more; doubles when that is not enough. */
function grow(store: Store): void {
  let alive = 0;
  for (let place = 0; place < store.used; place++) if (store.marks[place] !== 0) alive += 1;
  const larger = room(alive * 4 < store.marks.length * 3 ? store.marks.length : store.marks.length * 2);
  let used = 0;
  for (let place = 0; place < store.used; place++) {
    if (store.marks[place] === 0) continue;
    copyPlace(store, place, { to: larger, at: used });
    store.places[store.slots[place] ?? 0] = used + 1;
    used += 1;
  }
  Object.assign(store, larger, { used });
}

/** A place for a slot in the order of times, which is nearly always the last one. What it held is left behind. */
function makePlace(store: Store, slot: number, time: number): number {
  if (store.used >= store.marks.length) grow(store);
  let place = store.used;
  while (place > 0 && (store.marks[place - 1] === 0 || isBefore(slot, time, { store, place: place - 1 }))) place -= 1;
  // Whatever does not count may stay before it.
  while (place < store.used && store.marks[place] === 0) place += 1;
  if (place < store.used) {
    for (const column of [store.slots, store.marks, store.bots, store.users, store.times])
      column.copyWithin(place + 1, place, store.used);
    for (let moved = place + 1; moved <= store.used; moved++)
      if (store.marks[moved] !== 0) store.places[store.slots[moved] ?? 0] = moved + 1;
  }
  store.slots[place] = slot;
  store.places[slot] = place + 1;
  store.used += 1;
  return place;
}

function isBefore(
  slot: number,
  time: number,
  { store, place }: { readonly store: Store; readonly place: number },
): boolean {
  const other = store.times[place] ?? 0;
  return time === other ? slot < (store.slots[place] ?? 0) : time < other;
}

/** Times and slots side by side are numbers of 64 bits, which are sorted without a function that compares. */
function sortAll(store: Store): void {
  const keys = new BigUint64Array(store.used);
  const halves = new Uint32Array(keys.buffer);
  const low = endianness() === 'LE' ? 0 : 1;
  let used = 0;
  for (let place = 0; place < store.used; place++) {
    if (store.marks[place] === 0) continue;
    halves[used * 2 + low] = store.slots[place] ?? 0;
    halves[used * 2 + 1 - low] = store.times[place] ?? 0;
    used += 1;
  }
  keys.subarray(0, used).sort();
  const sorted = room(Math.max(firstRoom, Math.ceil(used * 1.25)));
  for (let at = 0; at < used; at++) {
    const slot = halves[at * 2 + low] ?? 0;
    copyPlace(store, (store.places[slot] ?? 0) - 1, { to: sorted, at });
    store.places[slot] = at + 1;
  }
  Object.assign(store, sorted, { used });
}
