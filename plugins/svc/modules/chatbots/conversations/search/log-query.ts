import type { DatabaseApi } from '#plugin-api';
import { tables } from '../conversation-tables.ts';

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
}

/** Which of those that match, newest first. */
export interface LogPage {
  readonly offset: number;
  readonly limit: number;
}

/** A statement or a part of one, with a `?` for each value. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** The values of a JSON array. */
export const elements = {
  sqlite: 'SELECT value FROM json_each(?)',
  postgresql: 'SELECT value::bigint FROM json_array_elements_text(?::json) AS value',
} as const;

const feedbacks = { up: 'liked > 0', down: 'disliked > 0', any: '(liked > 0 OR disliked > 0)' } as const;

/** As in the index of the list, see `0310_list_of_logs`. */
const second = 'last_message_at / 1000';
const newestFirst = 'ORDER BY second DESC, id DESC';
const secondsPerQuarter = 900;

/**
 * Selects `second` and `id` of the conversations that match, which one index covers with all its filters. A column with `+` is
 * looked for in no other index, which would read the rows of the table or sort them.
 *
 * @param texts selects the ids of the conversations with the text
 */
export function selectMatching(
  dialect: DatabaseApi['dialect'],
  { botId, userIds, from, to, feedback, guest }: LogFilter,
  texts: Sql | null,
): Sql {
  const conditions: (readonly [string, ...(string | number)[]])[] = [];
  if (botId !== undefined) conditions.push(['+bot_id = ?', botId]);
  if (userIds !== undefined) conditions.push([`+user_id IN (${elements[dialect]})`, JSON.stringify([...userIds])]);
  if (guest !== undefined) conditions.push([guest ? '+user_id = 0' : '+user_id > 0']);
  if (feedback !== undefined) conditions.push([feedbacks[feedback]]);
  if (from !== undefined) conditions.push([`${second} >= ?`, from]);
  if (to !== undefined) conditions.push([`${second} <= ?`, to]);
  if (texts !== null) conditions.push([`id IN (${texts.sql})`, ...texts.values]);
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.map(([sql]) => sql).join(' AND ')}`;
  return {
    sql: `SELECT ${second} AS second, id FROM ${tables.conversations}${where}`,
    values: conditions.flatMap(([, ...values]) => values),
  };
}

/**
 * Rows of the total and an id, newest first; the id is 0 in the only row of a page past the end.
 *
 * @param isSlow whether to find once what is counted and shown, rather than to read the index twice
 */
export function selectPage({ sql, values }: Sql, { offset, limit }: LogPage, isSlow: boolean): Sql {
  return {
    sql: `WITH found AS ${isSlow ? '' : 'NOT '}MATERIALIZED (${sql})
      SELECT total, COALESCE(id, 0) FROM (SELECT COUNT(*) AS total FROM found) AS counted
      LEFT JOIN (SELECT second, id FROM found ${newestFirst} LIMIT ? OFFSET ?) AS page ON TRUE ${newestFirst}`,
    values: [...values, limit, offset],
  };
}

/** The ids, newest first. */
export function selectIds({ sql, values }: Sql): Sql {
  return { sql: `SELECT id FROM (${sql}) AS found ${newestFirst}`, values };
}

/** Rows of a time and how many conversations had their last message within a quarter of an hour from it: no day begins within one. */
export function selectQuarters({ sql, values }: Sql): Sql {
  const quarter = `second / ${String(secondsPerQuarter)}`;
  return {
    sql: `SELECT ${quarter} * ${String(secondsPerQuarter)}, COUNT(*) FROM (${sql}) AS found GROUP BY ${quarter}`,
    values,
  };
}
