import { parseId, RestError, withNotice, withFieldErrors, restError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, Role, User, UserProfile, FieldErrors } from '#plugin-api';
import { profileFormData, readProfile } from './forms.ts';
import { readRawText, readQuery, readText } from './forms.ts';
import { describeTwoFactor } from './two-step-page.ts';
import { findUser, roleLabels, type UserPagesDependencies } from './users-contract.ts';

interface Typed {
  readonly login?: string;
  readonly email?: string;
  readonly displayName?: string;
  readonly role?: string;
  readonly isInvited?: boolean;
}

/** Adds a user, who gets a password here or chooses one by an invitation. */
export function createNewUserPage(dependencies: UserPagesDependencies): AdminPageBody {
  const { users, roles, isMailAvailable } = dependencies;
  const page = async (
    { user }: AdminRequest,
    typed: Typed = {},
    errors: FieldErrors = {},
  ): Promise<NonNullable<AdminActionResult['page']>> => ({
    template: 'admin/pages/user-new',
    data: {
      typed: { role: 'subscriber', isInvited: true, ...typed },
      mayInvite: await isMailAvailable(),
      errors,
      roles: roleChoices(roles().filter(({ name }) => name === 'subscriber' || user.can('promote_users'))),
    },
  });
  return {
    render: (request) => page(request),
    actions: {
      create: (request) => {
        const typed = {
          login: readText(request, 'login'),
          email: readText(request, 'email'),
          displayName: readText(request, 'display_name'),
          role: readText(request, 'role') || 'subscriber',
          isInvited: request.form['invite'] === '1',
        };
        return withFieldErrors(
          async () => {
            if (typed.role !== 'subscriber' && !request.user.can('promote_users'))
              throw forbidden('You are not allowed to assign roles.');
            if (typed.role !== 'subscriber') request.requireFreshSignIn();
            const { displayName, isInvited, ...rest } = typed;
            const user = await users.create({
              ...rest,
              password: await readNewPassword(dependencies, request, isInvited),
              ...(displayName !== '' && { displayName }),
            });
            if (!isInvited) return withNotice('success', `${user.displayName} added.`, { redirect: 'users' });
            await dependencies.invitations.send(user);
            return withNotice('success', `${user.displayName} added. An invitation was sent to ${user.email}.`, {
              redirect: 'users',
            });
          },
          (errors) => page(request, typed, errors),
        );
      },
    },
  };
}

/** The typed password, or a random one for a user who chooses one by the invitation. @throws RestError at a field. */
async function readNewPassword(
  { isMailAvailable, temporaryPassword }: UserPagesDependencies,
  request: AdminRequest,
  isInvited: boolean,
): Promise<string> {
  const typed = readRawText(request, 'password');
  if (!isInvited) return typed;
  if (typed !== '') throw passwordError('Leave this empty: the user chooses a password by the invitation.');
  if (!(await isMailAvailable())) throw passwordError('Enter a password, or set up mail to send an invitation.');
  return temporaryPassword();
}

function passwordError(message: string): RestError {
  return new RestError({ code: 'rest_invalid_param', message, status: 400, data: { params: { password: message } } });
}

/** Name, email, role, password, invitation and sessions of another user. */
export function createEditUserPage(dependencies: UserPagesDependencies): AdminPageBody {
  const { users, sessions, invitations, credentials } = dependencies;
  const find = async (request: AdminRequest, id: number): Promise<User> => {
    const user = await findUser(users, id);
    if (!request.user.can('edit_user', id)) throw forbidden('You are not allowed to edit this user.');
    return user;
  };
  const posted = (request: AdminRequest): Promise<User> => find(request, parseId(readText(request, 'id')));
  const page = (request: AdminRequest, user: User, showing: Showing = {}) =>
    editView(dependencies, { request, user, showing });
  const back = (user: User): { readonly redirect: string } => ({ redirect: `users/edit?id=${user.id}` });
  return {
    render: async (request) => page(request, await find(request, parseId(readQuery(request, 'id')))),
    actions: {
      save: async (request) => {
        const user = await posted(request);
        const typed = {
          email: readText(request, 'email'),
          displayName: readText(request, 'display_name'),
          ...(request.form['role'] !== undefined && { role: readText(request, 'role') }),
        };
        const about = readProfile(request);
        if (typed.email.toLowerCase() !== user.email.toLowerCase()) request.requireFreshSignIn();
        return withFieldErrors(
          async () => {
            const changesRole = typed.role !== undefined && typed.role !== (user.roles[0] ?? '');
            if (changesRole && !request.user.can('promote_user', user.id))
              throw forbidden('You are not allowed to assign roles.');
            if (changesRole) request.requireFreshSignIn();
            const changes = {
              email: typed.email,
              displayName: typed.displayName,
              profile: about,
              ...(changesRole && { roles: [typed.role ?? ''] }),
            };
            await users.update(user.id, changes, {
              keepCredentials: readText(request, 'revoke_credentials') === '',
            });
            return withNotice('success', 'User saved.', back(user));
          },
          (errors) => page(request, user, { typed, about, errors }),
        );
      },
      password: async (request) => {
        const user = await posted(request);
        request.requireFreshSignIn();
        return withFieldErrors(
          async () => {
            await users.update(user.id, { password: readRawText(request, 'password') });
            if (readText(request, 'revoke_credentials') !== '') await credentials.revoke(user.id);
            return withNotice(
              'success',
              `Password of ${user.displayName} changed. The user has been signed out everywhere.`,
              back(user),
            );
          },
          (errors) => page(request, user, { errors }),
        );
      },
      invite: async (request) => {
        const user = await posted(request);
        await invitations.send(user);
        return withNotice(
          'success',
          `An invitation was sent to ${user.email}. Earlier invitations no longer work.`,
          back(user),
        );
      },
      'revoke-invitation': async (request) => {
        const user = await posted(request);
        const existed = await invitations.revoke(user.id);
        return existed
          ? withNotice('success', 'Invitation revoked. Its link no longer works.', back(user))
          : withNotice('info', 'This user has no open invitation.', { ...back(user) });
      },
      'reset-two-step': async (request) => {
        const user = await posted(request);
        if (user.id === request.user.id) throw forbidden('Change your own two-step sign-in on your profile.');
        request.requireFreshSignIn();
        await dependencies.twoFactor.reset(user.id, request.user.id);
        return withNotice(
          'success',
          `Two-step sign-in of ${user.displayName} reset. The user has been signed out everywhere.`,
          back(user),
        );
      },
      'sign-out': async (request) => {
        const user = await posted(request);
        await sessions.destroyAll(user.id);
        return withNotice('success', `${user.displayName} has been signed out everywhere.`, back(user));
      },
    },
  };
}

interface Showing {
  readonly typed?: Typed;
  readonly about?: Partial<UserProfile>;
  readonly errors?: FieldErrors;
}

interface Viewing {
  readonly request: AdminRequest;
  readonly user: User;
  readonly showing: Showing;
}

async function editView(
  dependencies: UserPagesDependencies,
  { request, user, showing: { typed = {}, about, errors = {} } }: Viewing,
): Promise<NonNullable<AdminActionResult['page']>> {
  const { roles, sessions } = dependencies;
  const invitation = await dependencies.invitations.find(user.id);
  return {
    template: 'admin/pages/user-edit',
    title: user.displayName || user.login,
    data: {
      user: { id: user.id, login: user.login, name: user.displayName, registeredAt: user.registeredAt },
      values: { email: user.email, displayName: user.displayName, role: user.roles[0] ?? '', ...typed },
      picture: dependencies.avatarUrl(user, 96),
      about: profileFormData(user, { typed: about, errors, locales: dependencies.locales() }),
      errors,
      credentials: await dependencies.credentials.list(user.id),
      roles: [...ownChoice(user, roles()), ...roleChoices(roles())],
      mayPromote: request.user.can('promote_user', user.id),
      mayDelete: user.id !== request.user.id && request.user.can('delete_user', user.id),
      fields: { id: String(user.id) },
      invitation: invitation && { ...invitation, isExpired: invitation.expiresAt <= dependencies.now() },
      mayInvite: await dependencies.isMailAvailable(),
      twoFactor: describeTwoFactor(await dependencies.twoFactor.status(user)),
      sessions: (await sessions.list(user.id)).length,
    },
  };
}

interface RoleChoice {
  readonly value: string;
  readonly label: string;
}

/** What the user has if it is no known role, so that saving the form does not change it. */
function ownChoice({ roles: [own = ''] }: User, roles: readonly Role[]): RoleChoice[] {
  if (roles.some(({ name }) => name === own)) return [];
  return [{ value: own, label: own === '' ? 'None' : roleLabels([own], roles) }];
}

/** Least powerful first. */
function roleChoices(roles: readonly Role[]): RoleChoice[] {
  return roles.map(({ name, label }) => ({ value: name, label })).reverse();
}

function forbidden(message: string): RestError {
  return restError(403, 'rest_forbidden', message);
}
