import { parseId } from '#plugin-api';
import type { CliCommand, MailApi, User, UsersApi } from '#plugin-api';
import type { PasswordLinks } from '../users/password-links.ts';
import type { PasswordMails } from '../users/password-mails.ts';
import { generatePassword } from '../users/passwords.ts';

export interface InvitationCommandsDependencies {
  readonly users: Pick<UsersApi, 'get' | 'find' | 'create' | 'roles'>;
  readonly mail: Pick<MailApi, 'isAvailable'>;
  readonly links: Pick<PasswordLinks, 'revokeInvitation'>;
  readonly passwords: Pick<PasswordMails, 'invite'>;
}

/** `user invite|resend-invitation|revoke-invitation`. */
export function invitationCommands({ users, mail, links, passwords }: InvitationCommandsDependencies): CliCommand[] {
  const user = { name: 'user', description: 'Id, user name or email address.' };
  const find = async (name: string): Promise<User> => {
    const found = (await users.find(name)) ?? (await users.get(parseId(name)));
    if (found === null) throw new Error(`User '${name}' does not exist. Run 'user list' to see all users.`);
    return found;
  };
  const requireMail = async (): Promise<void> => {
    if (!(await mail.isAvailable()))
      throw new Error('No mail server is set up. Enter one under System, Mail, or run: user create');
  };
  return [
    {
      name: 'user invite',
      description: 'Creates a user and mails a link, which works for 7 days, to choose a password.',
      args: [
        { name: 'login', description: 'User name.' },
        { name: 'email', description: 'Email address.' },
      ],
      flags: {
        role: {
          type: 'string',
          enum: users.roles().map(({ name }) => name),
          default: 'subscriber',
          description: 'Role of the user.',
        },
        display_name: { type: 'string', description: 'Name shown to others. Default: the user name.' },
      },
      async run({ args: [login = '', email = ''], flags }) {
        await requireMail();
        const displayName = flags['display_name'];
        const created = await users.create({
          login,
          email,
          password: generatePassword(),
          role: String(flags['role']),
          ...(typeof displayName === 'string' && displayName !== '' && { displayName }),
        });
        await passwords.invite(created);
        return { id: created.id, login: created.login, email: created.email, roles: created.roles.join(',') };
      },
    },
    {
      name: 'user resend-invitation',
      description: 'Mails a new invitation. Earlier ones no longer work.',
      args: [user],
      async run({ args: [name = ''] }) {
        await requireMail();
        const found = await find(name);
        await passwords.invite(found);
        return `Invitation sent to ${found.email}.`;
      },
    },
    {
      name: 'user revoke-invitation',
      description: 'Voids the invitation of a user.',
      args: [user],
      async run({ args: [name = ''] }) {
        const { id, login } = await find(name);
        return (await links.revokeInvitation(id))
          ? `Invitation of ${login} revoked.`
          : `${login} has no open invitation.`;
      },
    },
  ];
}
