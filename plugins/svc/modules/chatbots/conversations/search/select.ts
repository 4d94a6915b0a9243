import { marks, type Columns } from './catalogue.ts';
import { countBits, type IdBits } from './id-bits.ts';

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

/** Which of those that match, newest first. */
export interface LogPage {
  readonly offset: number;
  readonly limit: number;
}

/** The rows of a catalogue that match, newest first, as long as nothing else is selected. */
export type Select = (
  columns: Columns,
  wanted: Omit<LogFilter, 'text'> & { readonly hits: IdBits | null },
) => Uint32Array;

/**
 * One column at a time, each over what the ones before it left, into one room. A row is written whether it matches or not,
 * and the count goes up by one or by nothing: a loop that never has to guess takes half as long, some 4 ms for a million.
 */
export function createSelect(): Select {
  let room = new Uint32Array(0);

  return (columns, { hits, botId, userIds, guest, feedback, from = 0, to = Number.MAX_SAFE_INTEGER, ids }) => {
    if (room.length < columns.used) room = new Uint32Array(columns.marks.length);
    const members = userIds === undefined ? undefined : membersOf(userIds, columns.highestUser);
    const present = hits === null ? null : bitsOfSlots(columns, hits);
    let rows: Uint32Array = room.subarray(0, takeFirst(columns, { present, botId, members }, room));
    if (botId !== undefined && members !== undefined) rows = keepMembers(rows, columns.users, members);
    if ((botId !== undefined || members !== undefined) && present !== null)
      rows = keepBits(rows, columns.slots, present);
    if (guest === true) rows = keepEqual(rows, columns.users, 0);
    if (guest === false) rows = keepRange(rows, columns.users, { from: 1, to: Number.MAX_SAFE_INTEGER });
    if (feedback !== undefined)
      rows = keepMarked(
        rows,
        columns.marks,
        { up: marks.liked, down: marks.disliked, any: marks.liked | marks.disliked }[feedback],
      );
    if (from > 0 || to < Number.MAX_SAFE_INTEGER) rows = keepRange(rows, columns.times, { from, to });
    if (ids !== undefined) rows = keepIds(rows, columns, ids);
    return rows;
  };
}

/** Those of some ids that the catalogue holds: how many, and a page of them, newest first. */
export function pageOfIds(
  columns: Columns,
  hits: IdBits,
  range: LogPage,
): { readonly ids: number[]; readonly total: number } {
  const { first, slots, used } = columns;
  const present = bitsOfSlots(columns, hits);
  const total = countBits(present);
  const rows =
    total < used / fewOf
      ? sortFew(columns, present, total).subarray(range.offset, range.offset + range.limit)
      : walkMany(columns, present, { ...range, total });
  return { ids: Array.from(rows, (row) => first + (slots[row] ?? 0)), total };
}

/** Where no more than one of so many is found, sorting those takes less time than going through all. */
const fewOf = 16;

function sortFew({ rows }: Columns, present: Uint8Array, total: number): Uint32Array {
  const found = new Uint32Array(total);
  let count = 0;
  for (let at = 0; at < present.length; at++) {
    for (let byte = present[at] ?? 0; byte !== 0; byte &= byte - 1)
      found[count++] = (rows[(at << 3) + 31 - Math.clz32(byte & -byte)] ?? 0) - 1;
  }
  return found.sort().reverse();
}

/** Looked for from the end that is nearer. */
function walkMany(
  { slots, marks: flags, used }: Columns,
  present: Uint8Array,
  { offset, limit, total }: LogPage & { readonly total: number },
): number[] {
  const wanted = Math.max(0, Math.min(limit, total - offset));
  const isBackwards = offset > total / 2;
  const rows: number[] = [];
  let skip = isBackwards ? total - offset - wanted : offset;
  for (let step = 0; step < used && rows.length < wanted; step++) {
    const row = isBackwards ? step : used - 1 - step;
    if ((bitOf(present, slots[row] ?? 0) & (flags[row] ?? 0)) === 0) continue;
    if (skip > 0) skip -= 1;
    else rows.push(row);
  }
  return isBackwards ? rows.reverse() : rows;
}

/** A bit for each slot: whether it is one of these ids, and there. */
function bitsOfSlots({ first, present }: Columns, hits: IdBits): Uint8Array {
  const shift = (first - hits.first) / 8;
  const bits = new Uint8Array(present.length);
  for (let at = Math.max(0, -shift); at < bits.length && at + shift < hits.bytes.length; at++)
    bits[at] = (present[at] ?? 0) & (hits.bytes[at + shift] ?? 0);
  return bits;
}

const bitOf = (bits: Uint8Array, at: number): number => ((bits[at >> 3] ?? 0) >> (at & 7)) & 1;

/** 1 where two numbers of 32 bits are the same, else 0. */
function isSame(one: number, other: number): number {
  const difference = one ^ other;
  return ((difference | -difference) >>> 31) ^ 1;
}

/** A byte for each user that the catalogue may hold: asked a million times, it has to be quicker than a set. */
function membersOf(users: ReadonlySet<number>, highest: number): Uint8Array {
  const members = new Uint8Array(highest + 1);
  for (const user of users) if (user <= highest) members[user] = 1;
  return members;
}

/** Ids of users have 31 bits: taken as such they need not be looked at twice. */
const isMember = (members: Uint8Array, user: number): number => members[user | 0] ?? 0;

/** Ids of bots and users have 32 bits in the catalogue; others do not exist. */
const isColumnValue = (value: number): boolean => value === value >>> 0;

interface First {
  readonly present: Uint8Array | null;
  readonly botId: number | undefined;
  readonly members: Uint8Array | undefined;
}

/** Those of all rows that one filter leaves, the first there is of chatbot, users and texts: the others look at no more than these. */
function takeFirst(columns: Columns, { present, botId, members }: First, room: Uint32Array): number {
  if (botId !== undefined) return isColumnValue(botId) ? takeBot(columns, botId, room) : 0;
  if (members !== undefined) return takeMembers(columns, members, room);
  return present === null ? takePresent(columns, room) : takeBits(columns, present, room);
}

// An unused row has no marks.

function takePresent({ marks: flags, used }: Columns, room: Uint32Array): number {
  let count = 0;
  for (let row = used - 1; row >= 0; row--) {
    room[count] = row;
    count += (flags[row] ?? 0) & marks.present;
  }
  return count;
}

function takeBot({ marks: flags, bots, used }: Columns, botId: number, room: Uint32Array): number {
  let count = 0;
  for (let row = used - 1; row >= 0; row--) {
    room[count] = row;
    count += isSame(bots[row] ?? 0, botId) & (flags[row] ?? 0);
  }
  return count;
}

function takeMembers({ marks: flags, users, used }: Columns, members: Uint8Array, room: Uint32Array): number {
  let count = 0;
  for (let row = used - 1; row >= 0; row--) {
    room[count] = row;
    count += isMember(members, users[row] ?? 0) & (flags[row] ?? 0);
  }
  return count;
}

function takeBits({ marks: flags, slots, used }: Columns, present: Uint8Array, room: Uint32Array): number {
  let count = 0;
  for (let row = used - 1; row >= 0; row--) {
    room[count] = row;
    count += bitOf(present, slots[row] ?? 0) & (flags[row] ?? 0);
  }
  return count;
}

// Each writes over what it has read.

function keepEqual(rows: Uint32Array, column: Uint32Array, value: number): Uint32Array {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    rows[count] = row;
    count += isSame(column[row] ?? 0, value);
  }
  return rows.subarray(0, count);
}

function keepMembers(rows: Uint32Array, users: Uint32Array, members: Uint8Array): Uint32Array {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    rows[count] = row;
    count += isMember(members, users[row] ?? 0);
  }
  return rows.subarray(0, count);
}

function keepBits(rows: Uint32Array, slots: Uint32Array, present: Uint8Array): Uint32Array {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    rows[count] = row;
    count += bitOf(present, slots[row] ?? 0);
  }
  return rows.subarray(0, count);
}

/** Both ends are included. */
function keepRange(
  rows: Uint32Array,
  column: Uint32Array,
  { from, to }: { readonly from: number; readonly to: number },
): Uint32Array {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    const value = column[row] ?? 0;
    if (value >= from && value <= to) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

function keepMarked(rows: Uint32Array, flags: Uint8Array, wanted: number): Uint32Array {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    if (((flags[row] ?? 0) & wanted) !== 0) rows[count++] = row;
  }
  return rows.subarray(0, count);
}

function keepIds(rows: Uint32Array, { slots, first }: Columns, ids: ReadonlySet<number>): Uint32Array {
  let count = 0;
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] ?? 0;
    if (ids.has(first + (slots[row] ?? 0))) rows[count++] = row;
  }
  return rows.subarray(0, count);
}
