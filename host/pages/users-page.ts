import {
  RestError,
  formatNumber,
  type AdminPageBody,
  type AdminRequest,
  type Role,
  type User,
  withNotice,
} from '#plugin-api';
import { parseId, readQuery, readText } from './forms.ts';
import { findUser, roleLabels, type UserPagesDependencies } from './users-contract.ts';

const perPage = 20;

/** The list of users, with search and role filter. */
export function createUsersPage({ users, roles, avatarUrl }: UserPagesDependencies): AdminPageBody {
  return {
    render: async (request) => {
      const search = readQuery(request, 's');
      const role = roles().some(({ name }) => name === readQuery(request, 'role')) ? readQuery(request, 'role') : '';
      const page = Math.max(1, parseId(readQuery(request, 'page')));
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
          users: found.map((user) => ({ ...toRow(user, request.user, roles()), picture: avatarUrl(user, 48) })),
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
  const known = roles();
  const counts = await Promise.all(known.map(({ name }) => users.count({ role: name })));
  const shown = known
    .map(({ name, label }, index) => ({ name, label, count: counts[index] ?? 0 }))
    .filter(({ name, count }) => count > 0 || name === role);
  return [
    { label: `All (${formatNumber(await users.count())})`, href: '?', current: role === '' },
    ...shown.map(({ name, label, count }) => ({
      label: `${label} (${formatNumber(count)})`,
      href: `?role=${name}`,
      current: name === role,
    })),
  ];
}

function toRow(user: User, caller: User, roles: readonly Role[]): Record<string, unknown> {
  return {
    id: user.id,
    login: user.login,
    name: user.displayName,
    email: user.email,
    roles: roleLabels(user.roles, roles) || 'None',
    registeredAt: user.registeredAt,
    isSelf: user.id === caller.id,
    editHref: user.id === caller.id ? 'profile' : caller.can('edit_user', user.id) ? `users/edit?id=${user.id}` : null,
    mayDelete: user.id !== caller.id && caller.can('delete_user', user.id),
  };
}

/** Confirms the deletion of a user and asks what happens to their content. */
export function createDeleteUserPage({ users }: UserPagesDependencies): AdminPageBody {
  const find = async (request: AdminRequest, id: number): Promise<User> => {
    const user = await findUser(users, id);
    if (user.id === request.user.id)
      throw new RestError({
        code: 'rest_user_cannot_delete',
        message: 'You cannot delete your own account. Ask another administrator.',
        status: 400,
      });
    if (!request.user.can('delete_user', id))
      throw new RestError({
        code: 'rest_user_cannot_delete',
        message: 'You are not allowed to delete this user.',
        status: 403,
      });
    return user;
  };
  return {
    render: async (request) => {
      const user = await find(request, parseId(readQuery(request, 'id')));
      const others = await users.list({ exclude: [user.id], limit: 500, orderBy: 'displayName' });
      const choices = [
        { value: '', label: 'Choose an option' },
        ...others.map(({ id, displayName, login }) => ({
          value: String(id),
          label: `Assign to ${displayName}${displayName === login ? '' : ` (${login})`}`,
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
        const user = await find(request, parseId(readText(request, 'id')));
        const choice = readText(request, 'content');
        if (choice !== 'remove' && parseId(choice) === 0) {
          return withNotice('error', 'Choose what happens to the content of this user.', {
            redirect: `users/delete?id=${user.id}`,
          });
        }
        await users.delete(user.id, { reassignTo: choice === 'remove' ? null : parseId(choice) });
        return withNotice('success', `${user.displayName} deleted.`, { redirect: 'users' });
      },
    },
  };
}

/** Data for the partial `admin/pages/pagination`. Null when everything fits on one page. */
interface Pagination {
  readonly text: string;
  readonly previous: string | null;
  readonly next: string | null;
}

interface PaginationInit {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  /** Query parameters to keep. Empty ones are omitted. */
  readonly query: Readonly<Record<string, string>>;
}

function paginate({ total, page, perPage, query }: PaginationInit): Pagination | null {
  const pages = Math.ceil(total / perPage);
  if (pages <= 1) return null;
  const address = (to: number): string => {
    const parameters = Object.entries({ ...query, page: to === 1 ? '' : String(to) }).filter(
      ([, value]) => value !== '',
    );
    return `?${new URLSearchParams(parameters).toString()}`;
  };
  return {
    text: `Page ${page} of ${pages}`,
    previous: page > 1 ? address(Math.min(page - 1, pages)) : null,
    next: page < pages ? address(page + 1) : null,
  };
}
