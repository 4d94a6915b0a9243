import { RestError } from '#plugin-api';
import type { Clock, DatabaseApi } from '#plugin-api';

export interface Passkey {
  /** Credential id in base64url. */
  readonly id: string;
  readonly userId: number;
  /** Random id of the user towards authenticators in base64url, the same for all passkeys of a user. */
  readonly userHandle: string;
  /** COSE key. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /** Signature counter; 0 for passkeys that are synchronized between devices. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Null: never. */
  readonly lastUsedAt: number | null;
}

export type NewPasskey = Omit<Passkey, 'createdAt' | 'lastUsedAt'>;

export interface PasskeyStore {
  /** Oldest first. */
  list(userId: number): Promise<Passkey[]>;
  find(id: string): Promise<Passkey | null>;
  /** @throws RestError 400 for a wrong name, a known passkey, or more than 20 passkeys. */
  add(passkey: NewPasskey): Promise<Passkey>;
  /** Returns whether it existed. @throws RestError 400 for a wrong name. */
  rename(init: { readonly userId: number; readonly id: string; readonly name: string }): Promise<boolean>;
  /** Returns the removed passkey; null if it did not exist. */
  remove(userId: number, id: string): Promise<Passkey | null>;
  removeAll(userId: number): Promise<void>;
  /** Stores the counter of a sign-in. Returns false if another one has moved it beyond in the meantime. */
  recordUse(id: string, counter: number): Promise<boolean>;
}

interface Row {
  readonly id: string;
  readonly user_id: number;
  readonly user_handle: string;
  readonly public_key: string;
  readonly counter: number | string;
  readonly transports: string;
  readonly name: string;
  readonly created_at: number | string;
  readonly last_used_at: number | string | null;
}

const maxPasskeys = 20;
const maxNameLength = 100;

interface Dependencies {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createPasskeyStore({ database: { knex }, clock }: Dependencies): PasskeyStore {
  const list = async (userId: number): Promise<Passkey[]> =>
    (await knex<Row>('passkeys').where({ user_id: userId }).orderBy('created_at').orderBy('id')).map(toPasskey);

  return {
    list,
    async find(id) {
      const row = await knex<Row>('passkeys').where({ id }).first();
      return row === undefined ? null : toPasskey(row);
    },
    async add(passkey) {
      const row: Row = {
        ...toRow(passkey),
        name: checkName(passkey.name),
        created_at: clock.now(),
        last_used_at: null,
      };
      if ((await list(passkey.userId)).length >= maxPasskeys)
        throw invalid('passkey_limit', `You have ${maxPasskeys} passkeys, which is the most. Remove one first.`);
      const inserted: unknown[] = await knex('passkeys').insert(row).onConflict('id').ignore().returning('id');
      if (inserted.length === 0)
        throw invalid('passkey_exists', 'This passkey has been added already. Use another device or security key.');
      return toPasskey(row);
    },
    async rename({ userId, id, name }) {
      return (
        (await knex('passkeys')
          .where({ user_id: userId, id })
          .update({ name: checkName(name) })) > 0
      );
    },
    async remove(userId, id) {
      const row = await knex<Row>('passkeys').where({ user_id: userId, id }).first();
      if (row === undefined) return null;
      return (await knex('passkeys').where({ user_id: userId, id }).delete()) > 0 ? toPasskey(row) : null;
    },
    async removeAll(userId) {
      await knex('passkeys').where({ user_id: userId }).delete();
    },
    async recordUse(id, counter) {
      const updated = await knex('passkeys')
        .where({ id })
        .where('counter', '<=', counter)
        .update({ counter, last_used_at: clock.now() });
      return updated > 0;
    },
  };
}

function checkName(given: string): string {
  const name = given.trim();
  if (name === '' || name.length > maxNameLength)
    throw invalid('passkey_name', `Enter a name of 1 to ${maxNameLength} characters for the passkey.`);
  return name;
}

function invalid(code: string, message: string): RestError {
  return new RestError({ code, message, status: 400, data: { params: { name: message } } });
}

function toRow({ id, userId, userHandle, publicKey, counter, transports }: NewPasskey) {
  return {
    id,
    user_id: userId,
    user_handle: userHandle,
    public_key: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: JSON.stringify(transports),
  };
}

function toPasskey(row: Row): Passkey {
  return {
    id: row.id,
    userId: Number(row.user_id),
    userHandle: row.user_handle,
    publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
    counter: Number(row.counter),
    transports: JSON.parse(row.transports) as string[],
    name: row.name,
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
  };
}
