import { RestError, type AdminPageBody, type AdminRequest, type User } from '#plugin-api';
import { numberOf, queryOf, success, textOf } from './forms.ts';
import { roleLabel, type UserPagesDependencies } from './users-contract.ts';

const perPage = 20;

/** All users, found by text and role; who may, removes one on the page `users/delete`. */
export function createUsersPage({ users, roles, avatarUrl }: UserPagesDependencies): AdminPageBody {
  return {
    render: async (request) => {
      const search = queryOf(request, 's');
      const role = roles.includes(queryOf(request, 'role')) ? queryOf(request, 'role') : '';
      const page = Math.max(1, numberOf(queryOf(request, 'page')));
      const filter = { ...(search !== '' && { search }), ...(role !== '' && { role }) };
      const total = await users.count(filter);
      const found = await users.list({
        ...filter,
        limit: perPage,
        offset: (page - 1) * perPage,
        orderBy: 'displayName',
      });
      return {
        template: 'admin/pages/users',
        data: {
          search,
          role,
          total,
          isFiltered: search !== '' || role !== '',
          tabs: await roleTabs({ users, roles, role }),
          users: found.map((user) => ({ ...lineOf(user, request.user), picture: avatarUrl(user, 48) })),
          pagination: paginate({ total, page, perPage, query: { s: search, role } }),
          mayCreate: request.user.can('create_users'),
        },
      };
    },
  };
}

async function roleTabs({
  users,
  roles,
  role,
}: Pick<UserPagesDependencies, 'users' | 'roles'> & { readonly role: string }) {
  const counts = await Promise.all(roles.map((name) => users.count({ role: name })));
  const held = roles
    .map((name, index) => ({ name, count: counts[index] ?? 0 }))
    .filter(({ name, count }) => count > 0 || name === role);
  return [
    { label: `All (${await users.count()})`, href: '?', current: role === '' },
    ...held.map(({ name, count }) => ({
      label: `${roleLabel(name)} (${count})`,
      href: `?role=${name}`,
      current: name === role,
    })),
  ];
}

function lineOf(user: User, caller: User): Record<string, unknown> {
  return {
    id: user.id,
    login: user.login,
    name: user.displayName,
    email: user.email,
    roles: user.roles.map(roleLabel).join(', ') || 'None',
    registeredAt: user.registeredAt,
    isSelf: user.id === caller.id,
    editHref: user.id === caller.id ? 'profile' : caller.can('edit_user', user.id) ? `users/edit?id=${user.id}` : null,
    mayDelete: user.id !== caller.id && caller.can('delete_user', user.id),
  };
}

/** A user who is removed, and who gets what belonged to them. */
export function createDeleteUserPage({ users }: UserPagesDependencies): AdminPageBody {
  const find = async (request: AdminRequest, id: number): Promise<User> => {
    const user = await users.get(id);
    if (user === null)
      throw new RestError({
        code: 'rest_user_invalid_id',
        message: 'There is no such user; perhaps somebody else removed them.',
        status: 404,
      });
    if (user.id === request.user.id)
      throw new RestError({
        code: 'rest_user_cannot_delete',
        message: 'You cannot delete yourself. Ask another administrator.',
        status: 400,
      });
    if (!request.user.can('delete_user', id))
      throw new RestError({
        code: 'rest_user_cannot_delete',
        message: 'Your account may not delete this user.',
        status: 403,
      });
    return user;
  };
  return {
    render: async (request) => {
      const user = await find(request, numberOf(queryOf(request, 'id')));
      const others = await users.list({ exclude: [user.id], limit: 500, orderBy: 'displayName' });
      const choices = [
        { value: '', label: 'Choose' },
        ...others.map(({ id, displayName, login }) => ({
          value: String(id),
          label: `Give it to ${displayName}${displayName === login ? '' : ` (${login})`}`,
        })),
        { value: 'remove', label: 'Delete it too' },
      ];
      return {
        template: 'admin/pages/user-delete',
        data: { user: { id: user.id, login: user.login, name: user.displayName, email: user.email }, choices },
      };
    },
    actions: {
      delete: async (request) => {
        const user = await find(request, numberOf(textOf(request, 'id')));
        const choice = textOf(request, 'content');
        if (choice !== 'remove' && numberOf(choice) === 0) {
          return {
            notice: { kind: 'error', text: 'Choose what happens to what belongs to this user.' },
            redirect: `users/delete?id=${user.id}`,
          };
        }
        await users.delete(user.id, { reassignTo: choice === 'remove' ? null : numberOf(choice) });
        return success(`${user.displayName} was deleted.`, { redirect: 'users' });
      },
    },
  };
}

/** What the partial `admin/pages/pagination` shows; null when everything is on one page. */
interface Pagination {
  readonly text: string;
  readonly previous: string | null;
  readonly next: string | null;
}

interface PaginationInit {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  /** Parameters of the address that stay; empty ones are left out. */
  readonly query: Readonly<Record<string, string>>;
}

function paginate({ total, page, perPage, query }: PaginationInit): Pagination | null {
  const pages = Math.ceil(total / perPage);
  if (pages <= 1) return null;
  const address = (to: number): string => {
    const kept = Object.entries({ ...query, page: to === 1 ? '' : String(to) }).filter(([, value]) => value !== '');
    return `?${new URLSearchParams(kept).toString()}`;
  };
  return {
    text: `Page ${page} of ${pages}`,
    previous: page > 1 ? address(Math.min(page - 1, pages)) : null,
    next: page < pages ? address(page + 1) : null,
  };
}
