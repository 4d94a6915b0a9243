import { createHmac, randomUUID } from 'node:crypto';
import { isSameSecret, restError } from '#plugin-api';
import type { DatabaseApi, OptionsApi, User } from '#plugin-api';
import type { Users } from './users.ts';

export interface SetupDependencies {
  readonly users: Pick<Users, 'create' | 'hasAdministrator'>;
  readonly options: Pick<OptionsApi, 'get' | 'add' | 'update' | 'delete'>;
  /** `lock` waits for a named lock within a transaction, across all nodes. */
  readonly database: Pick<DatabaseApi, 'transaction'> & { lock(name: string): Promise<void> };
  /** 32 bytes, the same on all nodes. */
  readonly key: () => Buffer;
  readonly siteUrl: () => string;
}

export interface SetupInput {
  readonly token: string;
  readonly siteName: string;
  readonly login: string;
  readonly email: string;
  readonly password: string;
}

/** Creates the first administrator in a browser, for the person who can read the output of the host. */
export interface Setup {
  needed(): Promise<boolean>;
  /** URL of the setup page with its one-time token, the same on every node. Null if an administrator exists. */
  ensureLink(): Promise<string | null>;
  /** Whether the token is valid and setup is still needed. */
  accepts(token: string): Promise<boolean>;
  /**
   * Creates the administrator, names the site and invalidates the token. Only one of several parallel callers succeeds.
   *
   * @throws RestError 403 `setup_link_invalid`; 400 like `users.create` with messages by field in `data.params`, which keeps
   *   the token valid.
   */
  complete(input: SetupInput): Promise<User>;
}

/** Option with the random seed of the token. The token is its HMAC and is not stored, so the database does not reveal it. */
const seedOption = 'setup_seed';

export function createSetup({ users, options, database, key, siteUrl }: SetupDependencies): Setup {
  async function token(): Promise<string | null> {
    const seed = await options.get<unknown>(seedOption);
    return typeof seed === 'string' && seed !== ''
      ? createHmac('sha256', key()).update(seed).digest('base64url')
      : null;
  }

  async function accepts(given: string): Promise<boolean> {
    const expected = await token();
    return expected !== null && isSameSecret(given, expected) && !(await users.hasAdministrator());
  }

  return {
    accepts,
    needed: async () => !(await users.hasAdministrator()),
    async ensureLink() {
      if (await users.hasAdministrator()) {
        await options.delete(seedOption);
        return null;
      }
      await options.add(seedOption, randomUUID());
      return `${siteUrl()}/admin/setup?token=${await token()}`;
    },
    complete: ({ token: given, siteName, login, email, password }) =>
      database.transaction(async () => {
        await database.lock('setup');
        if (!(await accepts(given))) {
          throw restError(
            403,
            'setup_link_invalid',
            'This setup link is invalid or has been used. Open the link that the host printed at start.',
          );
        }
        const user = await users.create({ login, email, password, role: 'administrator' });
        if (siteName.trim() !== '') await options.update('blogname', siteName.trim());
        await options.delete(seedOption);
        return user;
      }),
  };
}
