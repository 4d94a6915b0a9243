import { createHmac, randomInt } from 'node:crypto';
import type { Database } from '../../database/database-contract.ts';

/** Number of codes in a set. */
export const recoveryCodeCount = 10;

/** Without characters that look alike: ten of them have 49 bits of entropy. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
const codeLength = 10;

/** Codes for a user who has lost the second factor. Each one works once. */
export interface RecoveryCodes {
  /** Replaces all codes of the user. Returns the new ones, such as `ab2cd-ef3gh`, this one time. */
  generate(userId: number): Promise<readonly string[]>;
  /** Whether the code is right; it is then used up on all nodes. Upper case, spaces and dashes do not matter. */
  use(userId: number, code: string): Promise<boolean>;
  /** Number of unused codes. */
  count(userId: number): Promise<number>;
  removeAll(userId: number): Promise<void>;
}

export interface RecoveryCodesDependencies {
  readonly database: Pick<Database, 'knex' | 'transaction'>;
  /** 32 bytes, the same on all nodes. Guesses cannot be tested against a copy of the table without it. */
  readonly key: () => Buffer;
  /** Keys that codes may have been saved with before the key was rotated. */
  readonly formerKeys: () => Promise<readonly Buffer[]>;
}

export function createRecoveryCodes({ database, key, formerKeys }: RecoveryCodesDependencies): RecoveryCodes {
  const { knex } = database;
  const hash = (userId: number, code: string, by = key()): string =>
    createHmac('sha256', by)
      .update(JSON.stringify([userId, code.toLowerCase().replace(/[^a-z0-9]/g, '')]))
      .digest('base64url');

  return {
    async generate(userId) {
      const codes = Array.from({ length: recoveryCodeCount }, generateCode);
      const rows = codes.map((code) => ({ user_id: userId, code_hash: hash(userId, code) }));
      await database.transaction(async () => {
        await knex('recovery_codes').where({ user_id: userId }).delete();
        await knex('recovery_codes').insert(rows);
      });
      return codes;
    },
    async use(userId, code) {
      if (code.length > 100) return false;
      const hashes = [key(), ...(await formerKeys())].map((by) => hash(userId, code, by));
      const used = await knex('recovery_codes').where({ user_id: userId }).whereIn('code_hash', hashes).delete();
      return used > 0;
    },
    async count(userId) {
      const [row] = await knex('recovery_codes').where({ user_id: userId }).count({ total: '*' });
      return Number(row?.['total'] ?? 0);
    },
    async removeAll(userId) {
      await knex('recovery_codes').where({ user_id: userId }).delete();
    },
  };
}

function generateCode(): string {
  const code = Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}
