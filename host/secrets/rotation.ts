import type { Clock, DatabaseApi, OptionsApi } from '#plugin-api';
import type { FormerKeys } from './former-keys.ts';
import { addKey, dropKeys, readKeyFile } from './key-file.ts';
import { describeUnreadable } from './secret-stores.ts';
import type { Secrets } from './secrets.ts';

export interface RotationDependencies {
  readonly config: {
    readonly secretKey: string | null;
    readonly previousSecretKey: string | null;
    readonly dataDir: string;
  };
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'> & { lock(name: string): Promise<void> };
  readonly secrets: Secrets;
  readonly formerKeys: FormerKeys;
  readonly options: Pick<OptionsApi, 'list'>;
  readonly mail: { reseal(): Promise<number> };
  readonly securityLog: { list(query: { readonly limit: number }): Promise<readonly { readonly position: number }[]> };
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * The steps of a rotation of the key, in this order. A process can stop between any two of them: all processes read with both
 * keys until the last step, and a second rotation continues where the first one stopped.
 */
export interface Rotation {
  /**
   * Makes the new key the one in use. Returns false if a previous rotation is continued.
   *
   * @throws Error with a remedy: a stored secret cannot be read, or `SECRET_KEY` is not set to a new key.
   */
  begin(): Promise<boolean>;
  /** Encrypts everything again that a previous key encrypted, until nothing is left. Returns the number of secrets and mails. */
  rewrite(): Promise<number>;
  /** Stores the keys that the security log and recovery codes still need, under the new key. */
  retire(): Promise<void>;
  /** Options with secrets that no store names, so that only the previous key can read them. */
  leftOver(): Promise<readonly string[]>;
  /** Removes the previous keys from the key file. */
  drop(): Promise<void>;
}

const lockName = 'secrets_rotate';
const maxAttempts = 20;
/** Milliseconds until a write of another process has surely reached this one. */
const settleTime = 1_500;

export function createRotation(dependencies: RotationDependencies): Rotation {
  const { config, database, secrets, formerKeys, options, securityLog, clock } = dependencies;
  const locked = <Result>(work: () => Promise<Result>): Promise<Result> =>
    database.transaction(async () => {
      await database.lock(lockName);
      return work();
    });
  /** The keys of the file before the last step, so that it drops no key that another rotation has added since. */
  let previous: readonly Buffer[] = [];

  return {
    async begin() {
      const unreadable = describeUnreadable(await secrets.unreadable());
      if (unreadable !== null) throw new Error(`${unreadable} Nothing was changed.`);
      if (config.secretKey !== null) {
        if (config.previousSecretKey === null || config.previousSecretKey === config.secretKey)
          throw new Error(howToSet);
        return true;
      }
      return locked(async () => {
        secrets.deriveKey('secrets');
        const isNew = secrets.previousKeys('secrets').length === 0;
        if (isNew) addKey(config.dataDir);
        previous = (readKeyFile(config.dataDir) ?? []).slice(1);
        return isNew;
      });
    },
    async rewrite() {
      let count = 0;
      for (let isSettled = false; ;) {
        const changed = await rewriteOnce(dependencies);
        count += changed;
        if (changed === 0 && isSettled) return count;
        // Another process may have encrypted with the previous key and not written yet, or its write not arrived here.
        await clock.sleep(settleTime);
        isSettled = true;
      }
    },
    retire: () => locked(async () => formerKeys.retire((await securityLog.list({ limit: 1 }))[0]?.position ?? 0)),
    leftOver: async () =>
      Object.entries(await options.list())
        .filter(([, value]) => secrets.usesPrevious(JSON.stringify(value)))
        .map(([name]) => name),
    drop: () => locked(async () => (config.secretKey === null ? dropKeys(config.dataDir, previous) : undefined)),
  };
}

const howToSet =
  'The key of this site is SECRET_KEY. To change it, start every node with SECRET_KEY set to a new key (for example the output of: ' +
  'openssl rand -hex 32) and SECRET_KEY_PREVIOUS set to the present one, then run this command again in that environment. ' +
  'Nothing was changed.';

/** All stores and mails in one transaction. Returns the number of changes; 0: nothing is left under a previous key. */
async function rewriteOnce({ database, secrets, mail, clock }: RotationDependencies): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.transaction(async () => {
        let count = 0;
        for (const store of secrets.stores())
          await store.rewrite(({ encrypted, context, isReported = true }) => {
            const renewed = renewOrLeave(secrets, { encrypted, context, isReported });
            if (renewed !== encrypted) count += 1;
            return renewed;
          });
        return count + (await mail.reseal());
      });
    } catch (error) {
      if (attempt === maxAttempts)
        throw new Error(
          `The rotation is not finished: ${(error as Error).message} Both keys are accepted. Run the command again.`,
          { cause: error },
        );
      // A secret was changed by another process: it arrives here within a second.
      await clock.sleep(100);
    }
  }
}

interface Renewal {
  readonly encrypted: string;
  readonly context: string | undefined;
  readonly isReported: boolean;
}

function renewOrLeave(secrets: Secrets, { encrypted, context, isReported }: Renewal): string {
  try {
    return secrets.renew(encrypted, context);
  } catch (error) {
    if (!isReported) return encrypted;
    throw error;
  }
}
