import { createHooks } from '../../host/hooks/hooks.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createApplicationPasswordAccess } from '../../host/users/application-password-access.ts';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createAuthentication } from '../../host/users/authentication.ts';
import { createLoginLimiter } from '../../host/users/login-limiter.ts';
import { migrations } from '../../host/users/migrations.ts';
import { createNonces } from '../../host/users/nonces.ts';
import { createSecrets } from '../../host/secrets/secrets.ts';
import { createSecondStep } from '../../host/users/second-step.ts';
import { createSessions } from '../../host/users/sessions.ts';
import { createTwoFactor } from '../../host/users/two-factor/two-factor.ts';
import { createUsers } from '../../host/users/users.ts';
import type { Database } from '../../host/database/database.ts';
import type { OpenDatabase } from '../helpers/dialects.ts';
import { silentLog } from '../helpers/dialects.ts';

/** One node of a site with everything of users, on the running test's database. Called twice: two nodes. */
export async function openNode(
  open: OpenDatabase,
  { clock = createFakeClock(), siteUrl = 'http://site.example' } = {},
) {
  const database = await open();
  await database.migrate('host', migrations);
  const hooks = createHooks();
  const users = createUsers({ database, hooks, clock, log: silentLog });
  const sessions = createSessions({ database, clock });
  const nonces = createNonces({ key: () => Buffer.alloc(32, 7), clock, hooks });
  const applicationPasswords = createApplicationPasswords({ database, users, clock, hooks });
  const limiter = createLoginLimiter({ database, clock });
  const roles: { required: readonly string[] } = { required: [] };
  const secrets = createSecrets({
    secretKey: 'a key for tests of users',
    dataDir: ':memory:',
    redactor: { add: () => undefined },
  });
  const twoFactor = createTwoFactor({
    database,
    secrets,
    options: { get: <Value>() => Promise.resolve(roles.required as Value) },
    hooks,
    site: { url: siteUrl, name: () => Promise.resolve('Tea shop') },
    clock,
    log: silentLog,
  });
  const authentication = createAuthentication({
    users,
    sessions,
    nonces,
    applicationPasswords,
    applicationPasswordAccess: createApplicationPasswordAccess({ hooks, siteUrl: () => siteUrl }),
    limiter,
    twoFactor,
    hooks,
    clock,
    log: silentLog,
    siteUrl: () => siteUrl,
  });
  const secondStep = createSecondStep({
    twoFactor,
    users,
    authentication,
    sessions,
    limiter,
    hooks,
    log: silentLog,
    siteUrl: () => siteUrl,
  });
  return {
    database,
    hooks,
    clock,
    users,
    sessions,
    nonces,
    applicationPasswords,
    limiter,
    secrets,
    twoFactor,
    roles,
    authentication,
    secondStep,
  };
}

export const ada = {
  login: 'Ada',
  email: 'Ada@Example.com',
  password: 'correct horse battery',
  displayName: 'Ada Lovelace',
  role: 'administrator',
} as const;
export const bob = { login: 'bob', email: 'bob@example.com', password: 'another long one' } as const;

/** The error of a promise that should have rejected. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; status?: number; data?: unknown; headers?: Record<string, string> }> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error as Error,
  );
  if (outcome === null) throw new Error('It resolved.');
  return outcome;
}

/** A user of the table, without the work of `create`. */
export interface Member {
  readonly name: string;
  readonly display?: string;
  readonly email?: string;
  readonly roles?: readonly string[];
}

function rowOf({ name, display = name, email = `${name}@example.com`, roles = ['subscriber'] }: Member) {
  return {
    login: name,
    login_key: name.toLowerCase(),
    email,
    email_key: email.toLowerCase(),
    display_name: display,
    display_key: display.toLowerCase(),
    slug: name,
    roles: JSON.stringify(roles),
    password_hash: '-',
    created_at: 1_000,
  };
}

export async function insertUsers({ knex }: Pick<Database, 'knex'>, members: readonly Member[]): Promise<void> {
  await knex.batchInsert('users', members.map(rowOf), 500);
}
