import { randomBytes } from 'node:crypto';
import { requireFound, restError, type HostApi, invalidFields } from '#plugin-api';
import { namedKeyPrefix } from '../../kit/require-api-key.ts';
import { keysTable, keyWindowsTable } from './key-tables.ts';
import { keyDigest, keyOfRow, type KeyRow, type NamedKey } from './named-key.ts';
import { readKey, type KeySettings } from './read-key.ts';
import type { FindUnknownScopes } from './scope-targets.ts';

/** A key with its secret, which cannot be read again. */
export interface IssuedKey {
  readonly key: NamedKey;
  readonly secret: string;
}

/** The named keys of the site. A change applies to the next request, on every node. */
export interface KeyStore {
  /** By name; revoked keys last. */
  list(): Promise<readonly NamedKey[]>;
  get(id: number): Promise<NamedKey | null>;
  /** @param createdBy id of the user; 0: the command line. @throws RestError 400 with a sentence for each invalid member */
  create(values: Readonly<Record<string, unknown>>, createdBy: number): Promise<IssuedKey>;
  /** Replaces name, scopes, limit and expiry. @throws RestError 400 with a sentence for each invalid member */
  update(id: number, values: Readonly<Record<string, unknown>>): Promise<NamedKey>;
  /** Issues another secret; the one before works for `overlap` more milliseconds. */
  rotate(id: number, overlap: number): Promise<IssuedKey>;
  /** Refuses all further requests; cannot be undone. Revoking again changes nothing. */
  revoke(id: number): Promise<NamedKey>;
}

const maxKeys = 1000;
/** Characters of a secret that are stored readable: too few to help in guessing the 43 random ones. */
const prefixLength = namedKeyPrefix.length + 6;

/** @param findUnknown Default: scopes may name anything, for callers that neither create nor change keys. */
export function createKeyStore(
  host: Pick<HostApi, 'database' | 'clock' | 'site' | 'hooks'>,
  findUnknown: FindUnknownScopes = () => Promise.resolve({}),
): KeyStore {
  const { database, clock } = host;
  const { knex } = database;

  /** For the security log. */
  async function report(event: 'created' | 'changed' | 'rotated' | 'revoked', { id, name }: NamedKey): Promise<void> {
    await host.hooks.doActionAsync('security_event', { event: `key_${event}`, details: { id, name } });
  }

  async function get(id: number): Promise<NamedKey | null> {
    const [row] = (await knex(keysTable).where({ id }).limit(1)) as KeyRow[];
    return row === undefined ? null : keyOfRow(row);
  }

  async function find(id: number): Promise<NamedKey> {
    return requireFound(await get(id), {
      code: 'rest_svc_key_not_found',
      status: 404,
      message: `No key has the id ${String(id)}. Reload the list of keys.`,
    });
  }

  async function findUsable(id: number): Promise<NamedKey> {
    const key = await find(id);
    if (key.revokedAt === null) return key;
    throw restError(409, 'rest_svc_key_is_revoked', `The key “${key.name}” was revoked. Create another one.`);
  }

  return {
    async list() {
      const rows = (await knex(keysTable).orderBy([{ column: 'name' }, { column: 'id' }])) as KeyRow[];
      const keys = rows.map(keyOfRow);
      return [...keys.filter(({ revokedAt }) => revokedAt === null), ...keys.filter((key) => key.revokedAt !== null)];
    },
    get,
    async create(values, createdBy) {
      const settings = await readKey(values, { host, findUnknown });
      const [counted] = (await knex(keysTable).count({ keys: '*' })) as { keys: number | string }[];
      if (Number(counted?.keys ?? 0) >= maxKeys)
        throw invalidFields({ name: `A site has at most ${String(maxKeys)} keys.` });
      const { secret, columns } = issueSecret();
      const [row] = (await knex(keysTable)
        .insert({ ...columnsOf(settings), ...columns, created_at: clock.now(), created_by: createdBy })
        .returning('*')) as KeyRow[];
      const key = keyOfRow(row ?? {});
      await report('created', key);
      return { key, secret };
    },
    async update(id, values) {
      const stored = await findUsable(id);
      await knex(keysTable)
        .where({ id })
        .update(columnsOf(await readKey(values, { host, stored, findUnknown })));
      const key = await find(id);
      await report('changed', key);
      return key;
    },
    async rotate(id, overlap) {
      await findUsable(id);
      const { secret, columns } = issueSecret();
      const old = overlap > 0 ? { old_digest: knex.ref('digest'), old_until: clock.now() + overlap } : noOldSecret;
      await knex(keysTable)
        .where({ id })
        .update({ ...columns, ...old });
      const key = await find(id);
      await report('rotated', key);
      return { key, secret };
    },
    async revoke(id) {
      await find(id);
      const revoked = await knex(keysTable)
        .where({ id })
        .whereNull('revoked_at')
        .update({ revoked_at: clock.now(), ...noOldSecret });
      await knex(keyWindowsTable).where({ key_id: id }).delete();
      const key = await find(id);
      if (revoked > 0) await report('revoked', key);
      return key;
    },
  };
}

const noOldSecret = { old_digest: null, old_until: null };

function issueSecret() {
  const secret = `${namedKeyPrefix}${randomBytes(32).toString('base64url')}`;
  return { secret, columns: { digest: keyDigest(secret), prefix: secret.slice(0, prefixLength) } };
}

function columnsOf({ name, scopes, requestsPerMinute, isLenient, expiresAt }: KeySettings) {
  return {
    name,
    scopes: JSON.stringify(scopes),
    requests_per_minute: requestsPerMinute,
    is_lenient: isLenient ? 1 : 0,
    expires_at: expiresAt,
  };
}
