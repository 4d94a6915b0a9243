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
 * filter walks through a million of them in a few milliseconds, so that totals are counted, never guessed, and the last page
 * costs what the first one does.
 */
export interface Catalogue {
  readonly count: () => number;
  /** Adds it, or changes what is known of it. */
  set(entry: CatalogueEntry): void;
  delete(id: number): void;
  /** Adds many that are not known yet; `sort` has to follow. */
  load(entries: readonly CatalogueEntry[]): void;
  sort(): void;
  readonly columns: () => Columns;
}

/** Indexed by slot, but for `order`. */
export interface Columns {
  /** Id of slot 0. */
  readonly first: number;
  readonly marks: Uint8Array;
  readonly bots: Uint32Array;
  readonly users: Uint32Array;
  readonly times: Uint32Array;
  /** Slots, oldest first. A slot counts where `places` says that it stands. */
  readonly order: Uint32Array;
  readonly places: Uint32Array;
  /** Places of `order` that are in use. */
  readonly used: number;
}

interface Store {
  first: number;
  marks: Uint8Array;
  bots: Uint32Array;
  users: Uint32Array;
  times: Uint32Array;
  order: Uint32Array;
  places: Uint32Array;
  used: number;
}

const firstRoom = 1024;

export function createCatalogue(): Catalogue {
  const store: Store = { first: -1, used: 0, ...room(firstRoom), order: new Uint32Array(firstRoom) };
  let count = 0;

  function slotFor(id: number): number {
    if (store.first < 0) store.first = id;
    // With room for more of them, so that a row of lower and lower ids does not move everything each time.
    if (id < store.first) shiftSlots(store, Math.max(store.first - id, Math.min(store.first, store.marks.length)));
    const slot = id - store.first;
    if (slot >= store.marks.length) growSlots(store, Math.max(slot + 1, store.marks.length * 2));
    return slot;
  }

  function fill(slot: number, entry: CatalogueEntry): void {
    store.bots[slot] = entry.botId;
    store.users[slot] = entry.userId;
    store.times[slot] = entry.lastMessage;
    store.marks[slot] = marks.present | (entry.liked ? marks.liked : 0) | (entry.disliked ? marks.disliked : 0);
  }

  return {
    count: () => count,
    columns: () => store,
    set(entry) {
      const slot = slotFor(entry.id);
      const isKnown = store.marks[slot] !== 0;
      const moved = !isKnown || store.times[slot] !== entry.lastMessage;
      fill(slot, entry);
      if (!isKnown) count += 1;
      if (moved) moveToPlace(store, slot);
    },
    delete(id) {
      const slot = id - store.first;
      if (store.first < 0 || slot < 0 || slot >= store.marks.length || store.marks[slot] === 0) return;
      store.marks[slot] = 0;
      count -= 1;
    },
    load(entries) {
      for (const entry of entries) {
        const slot = slotFor(entry.id);
        if (store.marks[slot] === 0) count += 1;
        fill(slot, entry);
      }
    },
    sort: () => sortAll(store),
  };
}

function room(size: number): Pick<Store, 'marks' | 'bots' | 'users' | 'times' | 'places'> {
  return { marks: new Uint8Array(size), bots: new Uint32Array(size), users: new Uint32Array(size), times: new Uint32Array(size), places: new Uint32Array(size) };
}

function growSlots(store: Store, size: number, shift = 0): void {
  const larger = room(size);
  larger.marks.set(store.marks, shift);
  larger.bots.set(store.bots, shift);
  larger.users.set(store.users, shift);
  larger.times.set(store.times, shift);
  larger.places.set(store.places, shift);
  Object.assign(store, larger);
}

/** An id below all others: they are read in the order of their last changes. */
function shiftSlots(store: Store, by: number): void {
  growSlots(store, store.marks.length + by, by);
  for (let place = 0; place < store.used; place++) store.order[place] = (store.order[place] ?? 0) + by;
  store.first -= by;
}

function isAlive(store: Store, place: number): boolean {
  const slot = store.order[place] ?? 0;
  return store.places[slot] === place && store.marks[slot] !== 0;
}

function isBefore(store: Store, one: number, other: number): boolean {
  const [time, otherTime] = [store.times[one] ?? 0, store.times[other] ?? 0];
  return time === otherTime ? one < other : time < otherTime;
}

/** Puts a slot where it belongs: nearly always at the end. Its old place is left behind, and is skipped from then on. */
function moveToPlace(store: Store, slot: number): void {
  if (store.used >= store.order.length) makeRoom(store);
  // Nobody's, until the slot has its new one.
  store.places[slot] = store.used;
  let place = store.used;
  while (place > 0 && (!isAlive(store, place - 1) || store.order[place - 1] === slot || isBefore(store, slot, store.order[place - 1] ?? 0))) place -= 1;
  // Whatever is skipped may stay before it.
  while (place < store.used && !isAlive(store, place)) place += 1;
  for (let next = store.used; next > place; next--) {
    const moving = store.order[next - 1] ?? 0;
    if (store.places[moving] === next - 1) store.places[moving] = next;
    store.order[next] = moving;
  }
  store.order[place] = slot;
  store.places[slot] = place;
  store.used += 1;
}

/** Leaves out what is skipped; doubles when that is not enough. */
function makeRoom(store: Store): void {
  const alive = new Uint32Array(store.order.length);
  let used = 0;
  for (let place = 0; place < store.used; place++) {
    if (!isAlive(store, place)) continue;
    const slot = store.order[place] ?? 0;
    alive[used] = slot;
    used += 1;
  }
  for (let place = 0; place < used; place++) store.places[alive[place] ?? 0] = place;
  store.used = used;
  store.order = alive;
  if (used * 4 < store.order.length * 3) return;
  const larger = new Uint32Array(store.order.length * 2);
  larger.set(alive);
  store.order = larger;
}

/** Sorts from scratch. Times fit into 32 bits and slots into 21 of the 53 that numbers have; more are sorted by comparing. */
function sortAll(store: Store): void {
  const slots = presentSlots(store);
  if (store.marks.length < 2 ** 21) {
    const keys = Float64Array.from(slots, (slot) => (store.times[slot] ?? 0) * 2 ** 21 + slot).sort();
    for (let place = 0; place < keys.length; place++) slots[place] = (keys[place] ?? 0) % 2 ** 21;
  } else slots.sort((one, other) => (isBefore(store, one, other) ? -1 : 1));
  store.order = new Uint32Array(Math.max(firstRoom, Math.ceil(slots.length * 1.25)));
  store.order.set(slots);
  store.used = slots.length;
  for (let place = 0; place < slots.length; place++) store.places[slots[place] ?? 0] = place;
}

function presentSlots(store: Store): Uint32Array {
  const slots = new Uint32Array(store.marks.length);
  let count = 0;
  for (let slot = 0; slot < store.marks.length; slot++) if (store.marks[slot] !== 0) slots[count++] = slot;
  return slots.slice(0, count);
}
