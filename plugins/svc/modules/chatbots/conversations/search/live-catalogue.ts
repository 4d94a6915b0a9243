import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Clock, DatabaseApi } from '#plugin-api';
import { tables } from '../conversation-tables.ts';
import { sqliteRevision } from '../revision.ts';
import { createCatalogue, type Catalogue, type CatalogueEntry } from './catalogue.ts';

export interface LiveCatalogueParts {
  readonly database: Pick<DatabaseApi, 'direct' | 'dialect' | 'listen' | 'dataVersion'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Runs when rows may have changed without a later revision: the database was restored, or notifications were lost. */
  readonly onGap?: (() => void) | undefined;
}

export interface LiveCatalogue {
  /** The catalogue with all changes before this call, of any process. The first call reads everything. */
  current(): Promise<Catalogue>;
  /** Forgets everything. */
  drop(): void;
}

/** Milliseconds. Rows of deleted conversations are read by all processes within that time. */
export const tombstoneLifetime = 24 * 3600 * 1000;
const rowsAtOnce = 5000;
const columns = 'id, bot_id, user_id, last_message_at, liked, disliked';

type Rows = readonly (readonly unknown[])[];

/**
 * Every change marks its conversation with a revision (see nextRevision), so that one small query returns what changed since
 * the last one, in any process. Concurrent callers share the next query. While DatabaseApi.dataVersion is
 * the same, no query runs.
 */
export function createLiveCatalogue(parts: LiveCatalogueParts): LiveCatalogue {
  const { clock } = parts;
  let loaded: Loaded | null = null;
  let running: Promise<Catalogue> | null = null;
  let next: Promise<Catalogue> | null = null;
  let listening = false;
  let gaps = 0;

  async function load(): Promise<Catalogue> {
    if (!listening) {
      // A restored database has other rows, so read everything again.
      listening = true;
      await parts.database.listen(
        'svc_logs',
        () => {},
        () => {
          loaded = null;
          gaps += 1;
          parts.onGap?.();
        },
      );
    }
    const before = gaps;
    const from = await firstRevision(parts.database);
    const catalogue = createCatalogue();
    await readAll(parts.database, (entries) => {
      catalogue.load(entries);
    });
    catalogue.sort();
    if (gaps > before) return load();
    loaded = { catalogue, from, at: clock.now(), version: null };
    return bringUpToDate();
  }

  async function bringUpToDate(): Promise<Catalogue> {
    const known = loaded;
    // Tombstones live a day.
    if (known === null || clock.now() - known.at > tombstoneLifetime / 2) return load();
    const version = parts.database.dataVersion();
    const { changed, removed, from } = await changesSince(parts.database, known.from);
    for (const row of changed) known.catalogue.set(entryOf(row));
    for (const id of removed) known.catalogue.delete(id);
    known.from = from;
    known.at = clock.now();
    known.version = version;
    return known.catalogue;
  }

  /** The catalogue if nothing has changed since it was read. */
  function unchanged(): Catalogue | null {
    if (loaded === null || loaded.version === null || loaded.version !== parts.database.dataVersion()) return null;
    loaded.at = clock.now();
    return loaded.catalogue;
  }

  return {
    async current() {
      const known = unchanged();
      if (known !== null) return known;
      if (running === null) {
        const mine = bringUpToDate().finally(() => {
          if (running === mine) running = null;
        });
        return (running = mine);
      }
      // What runs may have begun before the caller's own write.
      next ??= running
        .catch(() => {})
        .then(() => {
          next = null;
          const mine = bringUpToDate().finally(() => {
            if (running === mine) running = null;
          });
          return (running = mine);
        });
      return next;
    },
    drop: () => void (loaded = null),
  };
}

interface Loaded {
  readonly catalogue: Catalogue;
  from: number;
  at: number;
  /** See DatabaseApi.dataVersion. */
  version: number | null;
}

function entryOf([id, botId, userId, lastMessageAt, liked, disliked]: readonly unknown[]): CatalogueEntry {
  return {
    id: Number(id),
    botId: Number(botId),
    userId: Number(userId),
    lastMessage: Math.floor(Number(lastMessageAt) / 1000),
    liked: Number(liked) > 0,
    disliked: Number(disliked) > 0,
  };
}

/**
 * In the order of the index that holds all of these columns, in steps that let others in. The rest of a revision is asked for
 * by itself: SQLite would look for the place of `(revision, id) > (?, ?)` from the beginning of the revision each time.
 */
async function readAll(
  database: LiveCatalogueParts['database'],
  take: (entries: CatalogueEntry[]) => void,
): Promise<void> {
  const select = `SELECT ${columns}, revision FROM ${tables.conversations} WHERE`;
  const read = async (sql: string, values: readonly number[]): Promise<Rows> => {
    const rows = await database.direct<Rows | Promise<Rows>>(
      {
        sqlite: (connection) => connection.rows(sql.replace(/\$\d/g, '?'), ...values),
        postgresql: async (connection) => (await connection.rows(sql, values)).rows,
      },
      { readOnly: true },
    );
    take(rows.map(entryOf));
    await yieldToEventLoop();
    return rows;
  };
  for (let revision = -1; ;) {
    let rows = await read(`${select} revision > $1 ORDER BY revision, id LIMIT ${String(rowsAtOnce)}`, [revision]);
    if (rows.length < rowsAtOnce) return;
    revision = Number(rows.at(-1)?.[6]);
    while (rows.length > 0)
      rows = await read(`${select} revision = $1 AND id > $2 ORDER BY id LIMIT ${String(rowsAtOnce)}`, [
        revision,
        Number(rows.at(-1)?.[0]),
      ]);
  }
}

/**
 * From where changes have to be asked for, whatever is read next. Revisions of a database that was restored from elsewhere
 * may be ahead of this one's: they are brought back, for they would seem new for ever, or hide what comes.
 */
async function firstRevision(database: LiveCatalogueParts['database']): Promise<number> {
  const work: Parameters<typeof database.direct<number>>[0] = {
    sqlite: ({ rows }) => Number(rows(`SELECT ${sqliteRevision}`)[0]?.[0]) + 1,
    async postgresql({ rows }) {
      const { rows: found } = await rows(
        `SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, (SELECT MAX(revision) FROM ${tables.conversations}), pg_snapshot_xmax(pg_current_snapshot())::text::bigint`,
      );
      const [oldest, highest, nextOne] = (found[0] ?? []).map(Number);
      if ((highest ?? 0) >= (nextOne ?? 0))
        await rows(`UPDATE ${tables.conversations} SET revision = 0 WHERE revision >= $1`, [nextOne]);
      return oldest ?? 0;
    },
  };
  // PostgreSQL may write, whose reads and writes do not wait for each other.
  return database.direct(work, { readOnly: database.dialect === 'sqlite' });
}

interface Changes {
  readonly changed: Rows;
  readonly removed: readonly number[];
  /** Where the next question begins. */
  readonly from: number;
}

const sqliteChanged = `SELECT ${columns} FROM ${tables.conversations} WHERE revision >= ?`;
const sqliteRemoved = `SELECT conversation_id FROM ${tables.tombstones} WHERE revision >= ?`;
const postgresqlChanges = `
  SELECT 0, pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0::bigint, 0::bigint, 0::bigint, 0, 0
  UNION ALL SELECT 1, ${columns} FROM ${tables.conversations} WHERE revision >= $1
  UNION ALL SELECT 2, conversation_id, 0, 0, 0, 0, 0 FROM ${tables.tombstones} WHERE revision >= $1`;

async function changesSince(database: LiveCatalogueParts['database'], from: number): Promise<Changes> {
  return database.direct<Changes | Promise<Changes>>(
    {
      sqlite({ rows }) {
        const now = Number(rows(`SELECT ${sqliteRevision}`)[0]?.[0]);
        if (now < from) return { changed: [], removed: [], from };
        return {
          changed: rows(sqliteChanged, from),
          removed: rows(sqliteRemoved, from).map(([id]) => Number(id)),
          from: now + 1,
        };
      },
      async postgresql({ rows }) {
        const { rows: found } = await rows(postgresqlChanges, [from]);
        const of = (kind: number): (readonly unknown[])[] =>
          found.filter(([one]) => one === kind).map((row) => row.slice(1));
        return { changed: of(1), removed: of(2).map(([id]) => Number(id)), from: Number(of(0)[0]?.[0]) };
      },
    },
    { readOnly: true },
  );
}
