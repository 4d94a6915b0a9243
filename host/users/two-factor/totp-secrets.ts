import { RestError, type Clock, type DatabaseApi, type SecretsApi } from '#plugin-api';
import { findTotpStep, generateTotpSecret } from './totp.ts';

/** The secrets shared with authenticator apps, one per user, encrypted at rest. */
export interface TotpSecrets {
  /** When the app was confirmed, in milliseconds since the epoch; null: no confirmed app. */
  confirmedAt(userId: number): Promise<number | null>;
  /**
   * The secret that waits for its first code, the same on each call until it is confirmed. Null if an app is confirmed
   * already: its secret is never shown again.
   */
  begin(userId: number): Promise<string | null>;
  /** Turns the app on if the code is right. Returns whether it was. */
  confirm(userId: number, code: string): Promise<boolean>;
  /** Whether the code is right. It then counts as used on all nodes, and so do all earlier ones. */
  use(userId: number, code: string): Promise<boolean>;
  /** Returns whether a confirmed app existed. */
  remove(userId: number): Promise<boolean>;
}

interface Row {
  readonly user_id: number;
  readonly secret: string;
  readonly confirmed_at: number | string | null;
  readonly last_step: number | string;
}

interface Match {
  readonly row: Row;
  /** What to store when the code is used. */
  readonly changes: { readonly last_step: number; readonly secret?: string };
}

/** Secrets of earlier versions are bound to no user. */
const unboundPrefix = 'enc:v1:';

/** What a secret is encrypted for (D35): moved to another user, it cannot be read. */
function contextOf(userId: number): string {
  return `totp_secrets:${userId}`;
}

export interface TotpSecretsDependencies {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly secrets: SecretsApi;
  readonly clock: Pick<Clock, 'now'>;
}

export function createTotpSecrets({ database: { knex }, secrets, clock }: TotpSecretsDependencies): TotpSecrets {
  secrets.addStore({
    async rewrite(change) {
      const rows = (await knex<Row>('totp_secrets').orderBy('user_id')) as Row[];
      for (const { user_id: user, secret, confirmed_at: confirmedAt } of rows) {
        const encrypted = change({
          label: `Authenticator app of the user ${user}`,
          encrypted: secret,
          context: contextOf(user),
          isReported: confirmedAt !== null,
        });
        if (encrypted === secret) continue;
        const changed = await knex('totp_secrets').where({ user_id: user, secret }).update({ secret: encrypted });
        // Another setup of the same user is newer; a removed one is gone.
        if (changed === 0 && (await find(user)) !== undefined)
          throw new Error('An authenticator app was changed in the meantime.');
      }
    },
  });
  const find = (userId: number): Promise<Row | undefined> =>
    knex<Row>('totp_secrets').where({ user_id: userId }).first();

  function read(row: Row): string {
    try {
      return secrets.decrypt(row.secret, contextOf(row.user_id));
    } catch (error) {
      if (!(error as Error).message.includes('another key')) throw error;
      throw new RestError({
        code: 'two_factor_unreadable',
        message:
          'The codes of authenticator apps cannot be checked: they were saved with another SECRET_KEY. ' +
          'Use a passkey, or ask an administrator to restore the key or to reset your two-step sign-in.',
        status: 503,
        cause: error,
      });
    }
  }

  /** The row if the code is of a step after the last used one. */
  async function match(userId: number, code: string): Promise<Match | null> {
    const row = await find(userId);
    if (row === undefined) return null;
    const secret = read(row);
    const step = await findTotpStep({ secret, code, now: clock.now() });
    const bound = row.secret.startsWith(unboundPrefix) ? { secret: secrets.encrypt(secret, contextOf(userId)) } : {};
    return step === null || step <= Number(row.last_step) ? null : { row, changes: { ...bound, last_step: step } };
  }

  return {
    async confirmedAt(userId) {
      const at = (await find(userId))?.confirmed_at ?? null;
      return at === null ? null : Number(at);
    },
    async begin(userId) {
      const fresh = {
        user_id: userId,
        secret: secrets.encrypt(await generateTotpSecret(), contextOf(userId)),
        last_step: 0,
      };
      // Of two parallel calls, both return the secret of the first.
      await knex('totp_secrets').insert(fresh).onConflict('user_id').ignore();
      const row = await find(userId);
      if (row === undefined || row.confirmed_at !== null) return null;
      try {
        return read(row);
      } catch {
        // No app has it yet: a new one replaces what cannot be read.
        await knex('totp_secrets').where({ user_id: userId, secret: row.secret }).whereNull('confirmed_at').delete();
        return this.begin(userId);
      }
    },
    async confirm(userId, code) {
      const found = await match(userId, code);
      if (found === null) return false;
      const confirmed = await knex('totp_secrets')
        .where({ user_id: userId, secret: found.row.secret })
        .whereNull('confirmed_at')
        .update({ ...found.changes, confirmed_at: clock.now() });
      return confirmed > 0;
    },
    async use(userId, code) {
      const found = await match(userId, code);
      if (found === null) return false;
      const used = await knex('totp_secrets')
        .where({ user_id: userId, secret: found.row.secret })
        .whereNotNull('confirmed_at')
        .where('last_step', '<', found.changes.last_step)
        .update(found.changes);
      return used > 0;
    },
    async remove(userId) {
      const removed = await knex('totp_secrets').where({ user_id: userId }).whereNotNull('confirmed_at').delete();
      await knex('totp_secrets').where({ user_id: userId }).delete();
      return removed > 0;
    },
  };
}
