import { formatDate, inLanguage, RestError, type HostApi } from '#plugin-api';
import type { Caller } from '../../kit/caller.ts';
import { currentDryRun } from '../../kit/dry-run.ts';
import { errors } from '../../kit/errors.ts';
import { createRateLimit } from '../../kit/rate-limit.ts';
import type { FindNamedKey } from '../../kit/require-api-key.ts';
import { keysTable, keyWindowsTable } from './key-tables.ts';
import { keyOfRow, keyState, type KeyRow, type NamedKey } from './named-key.ts';

export interface KeyAccess {
  /** Reads the database for each request, so that a revoked or expired key is refused on all nodes at once. */
  readonly find: FindNamedKey;
  /**
   * The same by id, for dry runs; null for an unknown id.
   *
   * @throws RestError 401 for a key that was revoked or has expired
   */
  findById(id: number): Promise<Caller | null>;
  /**
   * Counts a call of a key that `find` returned within its limit per minute, over all nodes, and notes its use.
   *
   * @throws RestError 429 `rest_svc_rate_limited`
   */
  count(caller: Caller): Promise<void>;
}

interface KeyLimit {
  /** As last read. */
  perMinute: number;
  readonly take: () => Promise<void>;
}

/** Milliseconds between two writes of a key's last use. */
const useInterval = 60_000;

/** Lets named keys in (D31). */
export function createKeyAccess(host: Pick<HostApi, 'database' | 'clock' | 'site'>): KeyAccess {
  const { database, clock } = host;
  const found = new WeakMap<Caller, NamedKey>();
  const limits = new Map<number, KeyLimit>();

  async function takeCall({ id, requestsPerMinute }: NamedKey): Promise<void> {
    const limit = limits.get(id) ?? limitOf(id);
    limits.set(id, limit);
    limit.perMinute = requestsPerMinute;
    await limit.take();
  }

  function limitOf(id: number): KeyLimit {
    const windows = { table: keyWindowsTable, of: { key_id: id } };
    const perMinute = (): number => limits.get(id)?.perMinute ?? 0;
    return { perMinute: 0, take: createRateLimit({ database, clock, windows, perMinute }) };
  }

  async function admit(row: KeyRow, isReplaced: boolean): Promise<Caller> {
    const key = keyOfRow(row);
    await requireUsable(key, { host, isReplaced });
    const caller: Caller = {
      kind: 'named-key',
      id: key.id,
      name: key.name,
      scopes: key.scopes,
      isLenient: key.isLenient,
    };
    found.set(caller, key);
    return caller;
  }

  return {
    async findById(id) {
      const [row] = (await database.knex(keysTable).where({ id }).limit(1)) as KeyRow[];
      return row === undefined ? null : admit(row, false);
    },
    async find(digests) {
      const hex = digests.map((digest) => digest.toString('hex'));
      const rows = (await database
        .knex(keysTable)
        .whereIn('digest', hex)
        .orWhereIn('old_digest', hex)
        .limit(2 * hex.length)) as KeyRow[];
      // The current secret of a key counts before the replaced secret of another, and a usable key before one that is not.
      const isReplaced = ({ digest }: KeyRow): boolean => !hex.includes(String(digest));
      let refusal: Error | undefined;
      for (const row of rows.sort((left, right) => Number(isReplaced(left)) - Number(isReplaced(right)))) {
        try {
          return await admit(row, isReplaced(row));
        } catch (error) {
          if (!(error instanceof RestError)) throw error;
          refusal ??= error;
        }
      }
      if (refusal !== undefined) throw refusal;
      return null;
    },
    async count(caller) {
      const key = found.get(caller);
      if (key === undefined) return;
      await takeCall(key);
      if (currentDryRun() !== undefined) return;
      const now = clock.now();
      if (key.lastUsedAt !== null && now - key.lastUsedAt < useInterval) return;
      await database
        .knex(keysTable)
        .where({ id: key.id })
        .where((query) => query.whereNull('last_used_at').orWhere('last_used_at', '<=', now - useInterval))
        .update({ last_used_at: now });
    },
  };
}

async function requireUsable(
  key: NamedKey,
  {
    host: { clock, site },
    isReplaced,
  }: { readonly host: Pick<HostApi, 'clock' | 'site'>; readonly isReplaced: boolean },
): Promise<void> {
  const now = clock.now();
  const values = { key: key.name };
  const state = keyState(key, now);
  if (state === 'revoked') throw errors.key_revoked({ values });
  if (state === 'expired') {
    const timeZone = await site.timezone();
    // English: the error is translated as a whole where it is shown.
    const date = inLanguage(undefined, () => formatDate(key.expiresAt ?? now, 'date', timeZone));
    throw errors.key_expired({ values: { ...values, date } });
  }
  if (isReplaced && now >= (key.oldUntil ?? 0)) throw errors.key_replaced({ values });
}
