import type { HostApi } from '#plugin-api';
import type { Signer } from '../../../kit/visitors/signer.ts';
import { widgetTables } from './widget-tables.ts';

/**
 * What was done where nothing is kept: hashes of ids, a day long, so that an act counts once however often it is sent, to
 * whichever node. They tell nothing of who said what.
 */
export interface Acts {
  /** Whether it is done for the first time. In the running transaction. */
  once(kind: string, ids: readonly string[]): Promise<boolean>;
  /** The number of the change when a value is not what it was, null when it is. */
  change(kind: string, ids: readonly string[], value: string): Promise<number | null>;
  sweep(): Promise<void>;
}

const keptFor = 24 * 3600_000;

export function createActs({
  host,
  signer,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
  readonly signer: Signer;
}): Acts {
  const { database, clock } = host;
  const acts = () => database.knex(widgetTables.acts);
  const keyOf = async (kind: string, ids: readonly string[]): Promise<string> =>
    (await signer.sign('act', [kind, ...ids])).toString('base64url');

  return {
    async once(kind, ids) {
      const rows = (await acts()
        .insert({ key: await keyOf(kind, ids), value: '', revision: 1, expires_at: clock.now() + keptFor })
        .onConflict('key')
        .ignore()
        .returning('key')) as unknown[];
      return rows.length > 0;
    },
    async change(kind, ids, value) {
      const key = await keyOf(kind, ids);
      const hashed = (await signer.sign('act-value', [value])).toString('base64url');
      const rows = (await acts()
        .insert({ key, value: hashed, revision: 1, expires_at: clock.now() + keptFor })
        .onConflict('key')
        .merge({ value: hashed, revision: database.knex.raw('?? + 1', [`${widgetTables.acts}.revision`]) as never })
        .whereNot(`${widgetTables.acts}.value`, hashed)
        .returning('revision')) as { readonly revision: number }[];
      return rows[0]?.revision ?? null;
    },
    async sweep() {
      await acts().where('expires_at', '<', clock.now()).delete();
    },
  };
}
