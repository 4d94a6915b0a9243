import {
  parseId,
  backToList,
  clampPage,
  formatCount,
  formatNumber,
  listQuery,
  listView,
  notSelected,
  readIds,
  readList,
  translateText,
  withNotice,
  readFormer,
  writeFormer,
  restError,
} from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView, Role, User, UserQuery } from '#plugin-api';
import { readQuery, readText } from './forms.ts';
import { findUser, roleLabels, type UserPagesDependencies } from './users-contract.ts';

const path = 'users';
const filterNames = ['s', 'role'];

/** The list of users, with search, role filter, sorting and a change of roles for several users. */
export function createUsersPage(dependencies: UserPagesDependencies): AdminPageBody {
  return {
    render: (request) => renderUsers(dependencies, request),
    actions: { bulk: (request) => changeRoles(dependencies, request) },
  };
}

async function renderUsers(
  { users, roles, avatarUrl }: UserPagesDependencies,
  request: AdminRequest,
): Promise<AdminView> {
  const search = readQuery(request, 's');
  const role = roles().some(({ name }) => name === readQuery(request, 'role')) ? readQuery(request, 'role') : '';
  const filter = { ...(search !== '' && { search }), ...(role !== '' && { role }) };
  const counts = await users.countByRole(search === '' ? {} : { search });
  const total = role === '' ? counts.total : (counts.byRole.get(role) ?? 0);
  const list = clampPage(
    readList(request, { sortable: ['displayName', 'email', 'registeredAt'], filters: { s: search, role } }),
    total,
  );
  const query = {
    ...filter,
    total,
    limit: list.perPage,
    offset: (list.page - 1) * list.perPage,
    orderBy: list.sort as NonNullable<UserQuery['orderBy']>,
    descending: list.order === 'desc',
  };
  const found = total === 0 ? [] : await users.list(query);
  const rows = found.map((user) => ({ ...toRow(user, request.user, roles()), picture: avatarUrl(user, 48) }));
  return {
    template: 'admin/pages/users',
    data: {
      search,
      searchFields: { role },
      tabs: roleTabs({ counts, roles: roles(), role, search }),
      users: rows,
      mayCreate: request.user.can('create_users'),
      mayChangeAny: rows.some(({ mayChange }) => mayChange),
      bulkFields: { back: listQuery(list) },
      // The least powerful first, so that the preset choice gives nothing away.
      bulkOptions: [...roles()].reverse().map(({ name, label }) => ({ value: name, label: `Change role to ${label}` })),
      list: listView(list, {
        total,
        text: formatCount(total, 'user'),
        chips: { s: `Search: ${search}`, role: roleLabels([role], roles()) },
        columns: [
          { label: 'Name', key: 'displayName' },
          { label: 'Email', key: 'email' },
          { label: 'Role' },
          { label: 'Registered', key: 'registeredAt' },
        ],
      }),
    },
  };
}

/** Gives the selected users a role. `undo` restores the roles in `was`: `id:role+role`, separated by commas. */
async function changeRoles({ users, roles }: UserPagesDependencies, request: AdminRequest): Promise<AdminActionResult> {
  const wanted = readText(request, 'do');
  const before = readFormer(request);
  const isUndo = wanted === 'undo';
  const role = roles().find(({ name }) => name === wanted);
  if (role === undefined && !isUndo) throw notSelected();
  const rolesOf = (id: number): readonly string[] =>
    role ? [role.name] : (before.get(id) ?? '').split('+').filter((name) => name !== '');
  const selected: User[] = [];
  for (const id of readIds(request)) selected.push(await findUser(users, id));
  if (!selected.every(({ id }) => id !== request.user.id && request.user.can('promote_user', id)))
    throw restError(403, 'rest_cannot_edit_roles', 'You are not allowed to change the roles of these users.');
  request.requireFreshSignIn();
  for (const { id } of selected) await users.update(id, { roles: rolesOf(id) });
  const { query, redirect } = backToList(request, path, filterNames);
  const [first] = selected;
  const who = selected.length === 1 && first ? first.displayName : formatCount(selected.length, 'user');
  if (isUndo) return withNotice('success', `${who}: previous role restored.`, { redirect });
  const was = writeFormer(selected, (user) => user.roles.join('+'));
  const fields = { do: 'undo', ids: selected.map(({ id }) => id).join(','), was, back: query };
  return {
    notice: {
      kind: 'success',
      text: `${who}: role changed to ${role?.label ?? ''}.`,
      undo: { action: 'bulk', fields },
    },
    redirect,
  };
}

function roleTabs({
  counts,
  roles,
  role,
  search,
}: {
  readonly counts: Awaited<ReturnType<UserPagesDependencies['users']['countByRole']>>;
  readonly roles: readonly Role[];
  readonly role: string;
  readonly search: string;
}) {
  const query = search === '' ? {} : { s: search };
  const shown = roles
    .map(({ name, label }) => ({ name, label, count: counts.byRole.get(name) ?? 0 }))
    .filter(({ name, count }) => count > 0 || name === role);
  return [
    {
      label: `All (${formatNumber(counts.total)})`,
      href: `?${new URLSearchParams(query).toString()}`,
      current: role === '',
    },
    ...shown.map(({ name, label, count }) => ({
      label: `${translateText(label)} (${formatNumber(count)})`,
      href: `?${new URLSearchParams({ role: name, ...query }).toString()}`,
      current: name === role,
    })),
  ];
}

function toRow(user: User, caller: User, roles: readonly Role[]) {
  return {
    id: user.id,
    login: user.login,
    name: user.displayName,
    email: user.email,
    roles: roleLabels(user.roles, roles) || 'None',
    registeredAt: user.registeredAt,
    isSelf: user.id === caller.id,
    editHref: user.id === caller.id ? 'profile' : caller.can('edit_user', user.id) ? `users/edit?id=${user.id}` : null,
    mayChange: user.id !== caller.id && caller.can('promote_user', user.id),
    mayDelete: user.id !== caller.id && caller.can('delete_user', user.id),
  };
}

/** Confirms the deletion of a user and asks what happens to their content. */
export function createDeleteUserPage({ users, credentials }: UserPagesDependencies): AdminPageBody {
  const find = async (request: AdminRequest, id: number): Promise<User> => {
    const user = await findUser(users, id);
    if (user.id === request.user.id)
      throw restError(400, 'rest_user_cannot_delete', 'You cannot delete your own account. Ask another administrator.');
    if (!request.user.can('delete_user', id))
      throw restError(403, 'rest_user_cannot_delete', 'You are not allowed to delete this user.');
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
        { value: 'remove', label: 'Delete it too (posts stay in the trash for 30 days)' },
      ];
      return {
        template: 'admin/pages/user-delete',
        data: {
          user: { id: user.id, login: user.login, name: user.displayName, email: user.email },
          choices,
          credentials: await credentials.list(user.id),
        },
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
        request.requireFreshSignIn();
        await users.delete(user.id, {
          reassignTo: choice === 'remove' ? null : parseId(choice),
          keepCredentials: readText(request, 'revoke_credentials') === '',
        });
        return withNotice('success', `${user.displayName} deleted.`, { redirect: 'users' });
      },
    },
  };
}
