import type { CliCommand, User, UsersApi } from '#plugin-api';
import { generatePassword } from '../users/passwords.ts';
import type { Sessions } from '../users/sessions.ts';

/** What the commands need of two-step sign-in. */
interface TwoFactorForCommands {
  reset(userId: number, actorId: number): Promise<boolean>;
}

export interface UserCommandsDependencies {
  readonly users: UsersApi;
  readonly twoFactor: TwoFactorForCommands;
  readonly sessions: Pick<Sessions, 'list' | 'destroy' | 'destroyAll'>;
}

/** `user create|list|set-password|two-factor reset|session list|session destroy`, with the names and output of WP-CLI. */
export function userCommands({ users, twoFactor, sessions }: UserCommandsDependencies): CliCommand[] {
  const role = {
    type: 'string',
    enum: users.roles().map(({ name }) => name),
    description: 'Role of the user.',
  } as const;
  const createCommand: CliCommand = {
    name: 'user create',
    description: 'Creates a user. Without --user_pass, generates a password and prints it once.',
    args: [
      { name: 'login', description: 'User name.' },
      { name: 'email', description: 'Email address.' },
    ],
    flags: {
      display_name: { type: 'string', description: 'Name shown to others. Default: the user name.' },
      user_pass: { type: 'string', description: 'Password, at least 12 characters.', writeOnly: true },
      role: { ...role, default: 'subscriber' },
    },
    async run({ args: [login = '', email = ''], flags }) {
      const given = text(flags['user_pass']);
      const displayName = text(flags['display_name']);
      const password = given ?? generatePassword();
      const user = await users.create({
        login,
        email,
        password,
        role: String(flags['role']),
        ...(displayName !== null && { displayName }),
      });
      return { ...describe(user), ...(given === null && { password }) };
    },
  };
  const listCommand: CliCommand = {
    name: 'user list',
    description: 'Lists users.',
    flags: {
      role,
      limit: { type: 'integer', minimum: 1, default: 100, description: 'Maximum number of rows.' },
      offset: { type: 'integer', minimum: 0, default: 0, description: 'Number of rows to skip.' },
    },
    async run({ flags }) {
      const wanted = text(flags['role']);
      const list = await users.list({
        limit: Number(flags['limit']),
        offset: Number(flags['offset']),
        ...(wanted !== null && { role: wanted }),
      });
      return list.map(describe);
    },
  };
  const setPasswordCommand: CliCommand = {
    name: 'user set-password',
    description:
      'Sets a password and ends all sessions of the user. Without a password, generates one and prints it once.',
    args: [
      { name: 'user', description: 'Id, user name or email address.' },
      { name: 'password', description: 'The new password, - or @file.', optional: true, secret: true },
    ],
    flags: { user_pass: { type: 'string', description: 'The new password, as for user create.', writeOnly: true } },
    async run({ args: [name = '', argument], flags }) {
      const user = await requireUser(users, name);
      const given = argument ?? text(flags['user_pass']);
      const password = given ?? generatePassword();
      await users.setPassword(user.id, password);
      return { id: user.id, login: user.login, ...(given === null && { password }) };
    },
  };
  return [
    createCommand,
    listCommand,
    setPasswordCommand,
    resetTwoFactorCommand(users, twoFactor),
    ...sessionCommands(users, sessions),
  ];
}

/** The first characters of a session's id. They open nothing. */
const shownIdLength = 12;

function sessionCommands(users: UsersApi, sessions: UserCommandsDependencies['sessions']): CliCommand[] {
  const userArgument = { name: 'user', description: 'Id, user name or email address.' };
  const time = (at: number): string => new Date(at).toISOString();
  return [
    {
      name: 'user session list',
      description: 'Lists the browsers in which a user is signed in.',
      args: [userArgument],
      async run({ args: [name = ''] }) {
        const user = await requireUser(users, name);
        return (await sessions.list(user.id)).map((session) => ({
          id: session.id.slice(0, shownIdLength),
          signed_in: time(session.createdAt),
          last_seen: time(session.lastSeenAt),
          expires: time(session.expiresAt),
          ip: session.ip,
          user_agent: session.userAgent,
        }));
      },
    },
    {
      name: 'user session destroy',
      description: 'Signs a user out of one browser, or of all with --all.',
      args: [userArgument, { name: 'session', description: 'Id of user session list.', optional: true }],
      flags: { all: { type: 'boolean', description: 'Ends all sessions of the user.' } },
      async run({ args: [name = '', id = ''], flags }) {
        const user = await requireUser(users, name);
        if ((flags['all'] === true) === (id !== ''))
          throw new Error("Give the id of a session, as 'user session list' prints it, or --all.");
        if (id === '') return { id: user.id, login: user.login, ended: await sessions.destroyAll(user.id) };
        const found = (await sessions.list(user.id)).filter((session) => session.id.startsWith(id));
        if (id.length < shownIdLength || found.length !== 1)
          throw new Error(`The user has no session '${id}'. Run 'user session list ${name}' to see all sessions.`);
        for (const session of found) await sessions.destroy(session.id);
        return { id: user.id, login: user.login, ended: found.length };
      },
    },
  ];
}

function resetTwoFactorCommand(users: UsersApi, twoFactor: TwoFactorForCommands): CliCommand {
  return {
    name: 'user two-factor reset',
    description:
      'Removes authenticator app, passkeys and recovery codes of a user who has lost them, and ends all sessions of the user.',
    args: [{ name: 'user', description: 'Id, user name or email address.' }],
    async run({ args: [name = ''] }) {
      const user = await requireUser(users, name);
      return { id: user.id, login: user.login, reset: await twoFactor.reset(user.id, 0) };
    },
  };
}

/** @throws Error for an unknown user. */
async function requireUser(users: UsersApi, name: string): Promise<User> {
  const user = (await users.find(name)) ?? (/^\d+$/.test(name) ? await users.get(Number(name)) : null);
  if (user === null) throw new Error(`User '${name}' does not exist. Run 'user list' to see all users.`);
  return user;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function describe(user: User): Record<string, unknown> {
  return {
    id: user.id,
    login: user.login,
    email: user.email,
    display_name: user.displayName,
    roles: user.roles.join(','),
  };
}
