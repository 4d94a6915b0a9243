import type { CliCommand, User, UsersApi } from '#plugin-api';
import { generatePassword } from '../users/passwords.ts';
import { roleNames } from '../users/roles.ts';

const role = {
  type: 'string',
  enum: roleNames,
  description: 'Role of the user.',
} as const;

/** What the commands need of two-step sign-in. */
interface TwoFactorForCommands {
  reset(userId: number, actorId: number): Promise<boolean>;
}

/** `user create|list|set-password|two-factor reset`, with the names and output of WP-CLI. */
export function userCommands(users: UsersApi, twoFactor: TwoFactorForCommands): CliCommand[] {
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
        role: text(flags['role']) ?? 'subscriber',
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
        limit: Number(flags['limit'] ?? 100),
        offset: Number(flags['offset'] ?? 0),
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
  return [createCommand, listCommand, setPasswordCommand, resetTwoFactorCommand(users, twoFactor)];
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
