import type { HostApi } from '#plugin-api';
import type { Signer } from '../../../kit/visitors/signer.ts';
import { widgetTables } from './widget-tables.ts';

/**
 * Idempotency keys of conversations that are not stored: hashes of ids, kept for a day. With them a request counts once,
 * however often it is sent and to whichever node. They reveal neither the visitor nor the text.
 */
export interface IdempotencyKeys {
  /** Whether the request is the first with these ids. Part of the running transaction. */
  claim(kind: string, ids: readonly string[]): Promise<boolean>;
  /** Stores a value. Returns the number of the change, or null when the value is the same as before. */
  recordChange(kind: string, ids: readonly string[], value: string): Promise<number | null>;
  /** Deletes expired keys. */
  sweep(): Promise<void>;
}

const lifetime = 24 * 3600_000;

export function createIdempotencyKeys({
  host,
  signer,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly signer: Signer;
}): IdempotencyKeys {
  const { database, clock } = host;
  const table = () => database.knex(widgetTables.idempotency);
  const hashKey = async (kind: string, ids: readonly string[]): Promise<string> =>
    (await signer.sign('act', [kind, ...ids])).toString('base64url');

  return {
    async claim(kind, ids) {
      const rows = (await table()
        .insert({ key: await hashKey(kind, ids), value: '', revision: 1, expires_at: clock.now() + lifetime })
        .onConflict('key')
        .ignore()
        .returning('key')) as unknown[];
      return rows.length > 0;
    },
    async recordChange(kind, ids, value) {
      const key = await hashKey(kind, ids);
      const hashed = (await signer.sign('act-value', [value])).toString('base64url');
      const rows = (await table()
        .insert({ key, value: hashed, revision: 1, expires_at: clock.now() + lifetime })
        .onConflict('key')
        .merge({
          value: hashed,
          revision: database.knex.raw('?? + 1', [`${widgetTables.idempotency}.revision`]) as never,
        })
        .whereNot(`${widgetTables.idempotency}.value`, hashed)
        .returning('revision')) as { readonly revision: number }[];
      return rows[0]?.revision ?? null;
    },
    async sweep() {
      await table().where('expires_at', '<', clock.now()).delete();
    },
  };
}
