import { RestError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, User, UserProfile } from '#plugin-api';
import { aboutData, typedAbout } from './forms.ts';
import { numberOf, passwordOf, queryOf, saveOrExplain, success, textOf, type Faults } from './forms.ts';
import { roleLabel, type UserPagesDependencies } from './users-contract.ts';

interface Typed {
  readonly login?: string;
  readonly email?: string;
  readonly displayName?: string;
  readonly role?: string;
}

/** A form for a new user. */
export function createNewUserPage({ users, roles }: UserPagesDependencies): AdminPageBody {
  const page = (
    { user }: AdminRequest,
    typed: Typed = {},
    faults: Faults = {},
  ): NonNullable<AdminActionResult['page']> => ({
    template: 'admin/pages/user-new',
    data: {
      typed: { role: 'subscriber', ...typed },
      faults,
      roles: roleChoices(user.can('promote_users') ? roles : ['subscriber']),
    },
  });
  return {
    render: (request) => Promise.resolve(page(request)),
    actions: {
      create: (request) => {
        const typed = {
          login: textOf(request, 'login'),
          email: textOf(request, 'email'),
          displayName: textOf(request, 'display_name'),
          role: textOf(request, 'role') || 'subscriber',
        };
        return saveOrExplain(
          async () => {
            if (typed.role !== 'subscriber' && !request.user.can('promote_users'))
              throw forbidden('Your account may not give roles.');
            const { displayName, ...rest } = typed;
            const user = await users.create({
              ...rest,
              password: passwordOf(request, 'password'),
              ...(displayName !== '' && { displayName }),
            });
            return success(`${user.displayName} was added.`, { redirect: 'users' });
          },
          (faults) => Promise.resolve(page(request, typed, faults)),
        );
      },
    },
  };
}

/** Name, address, role, password and sessions of another user. */
export function createEditUserPage(dependencies: UserPagesDependencies): AdminPageBody {
  const { users, sessions } = dependencies;
  const find = async (request: AdminRequest, id: number): Promise<User> => {
    const user = await users.get(id);
    if (user === null)
      throw new RestError({
        code: 'rest_user_invalid_id',
        message: 'There is no such user; perhaps somebody else removed them.',
        status: 404,
      });
    if (!request.user.can('edit_user', id)) throw forbidden('Your account may not edit this user.');
    return user;
  };
  const posted = (request: AdminRequest): Promise<User> => find(request, numberOf(textOf(request, 'id')));
  const page = (request: AdminRequest, user: User, showing: Showing = {}) =>
    editView(dependencies, { request, user, showing });
  const back = (user: User): { readonly redirect: string } => ({ redirect: `users/edit?id=${user.id}` });
  return {
    render: async (request) => page(request, await find(request, numberOf(queryOf(request, 'id')))),
    actions: {
      save: async (request) => {
        const user = await posted(request);
        const typed = {
          email: textOf(request, 'email'),
          displayName: textOf(request, 'display_name'),
          ...(request.form['role'] !== undefined && { role: textOf(request, 'role') }),
        };
        return saveOrExplain(
          async () => {
            const changesRole = typed.role !== undefined && typed.role !== (user.roles[0] ?? '');
            if (changesRole && !request.user.can('promote_user', user.id))
              throw forbidden('Your account may not give roles.');
            await users.update(user.id, {
              email: typed.email,
              displayName: typed.displayName,
              ...(changesRole && { roles: [typed.role ?? ''] }),
            });
            return success('The user is saved.', back(user));
          },
          (faults) => page(request, user, { typed, faults }),
        );
      },
      about: async (request) => {
        const user = await posted(request);
        const about = typedAbout(request);
        return saveOrExplain(
          async () => {
            await users.update(user.id, { profile: about });
            return success('The user is saved.', back(user));
          },
          (faults) => page(request, user, { about, faults }),
        );
      },
      password: async (request) => {
        const user = await posted(request);
        return saveOrExplain(
          async () => {
            await users.update(user.id, { password: passwordOf(request, 'password') });
            return success(`${user.displayName} has a new password and was signed out everywhere.`, back(user));
          },
          (faults) => page(request, user, { faults }),
        );
      },
      'sign-out': async (request) => {
        const user = await posted(request);
        await sessions.destroyAll(user.id);
        return success(`${user.displayName} was signed out everywhere.`, back(user));
      },
    },
  };
}

interface Showing {
  readonly typed?: Typed;
  readonly about?: Partial<UserProfile>;
  readonly faults?: Faults;
}

interface Viewing {
  readonly request: AdminRequest;
  readonly user: User;
  readonly showing: Showing;
}

async function editView(
  dependencies: UserPagesDependencies,
  { request, user, showing: { typed = {}, about, faults = {} } }: Viewing,
): Promise<NonNullable<AdminActionResult['page']>> {
  const { roles, sessions } = dependencies;
  return {
    template: 'admin/pages/user-edit',
    data: {
      user: { id: user.id, login: user.login, name: user.displayName, registeredAt: user.registeredAt },
      values: { email: user.email, displayName: user.displayName, role: user.roles[0] ?? '', ...typed },
      picture: dependencies.avatarUrl(user, 96),
      about: aboutData(user, { typed: about, faults }),
      faults,
      roles: [...(user.roles.length === 0 ? [{ value: '', label: 'None' }] : []), ...roleChoices(roles)],
      mayPromote: request.user.can('promote_user', user.id),
      mayDelete: user.id !== request.user.id && request.user.can('delete_user', user.id),
      fields: { id: String(user.id) },
      sessions: (await sessions.list(user.id)).length,
    },
  };
}

function roleChoices(roles: readonly string[]): { value: string; label: string }[] {
  return roles.map((role) => ({ value: role, label: roleLabel(role) })).reverse();
}

function forbidden(message: string): RestError {
  return new RestError({ code: 'rest_forbidden', message, status: 403 });
}
