import {
  argumentBounds,
  collectionArguments,
  orderArgument,
  pagingHeaders,
  RestResponse,
  slugsArgument,
  type HooksApi,
  type RestRequest,
  type RouteArgument,
  type RouteDefinition,
  type UserFilter,
  type UserQuery,
} from '#plugin-api';
import { refused, userSchema, type UserContext } from './user-response.ts';
import type { Users } from './users.ts';
import type { PrepareUser } from './users-routes.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Ids of public users, who have published something. Default: none. */
    rest_public_authors: (ids: readonly number[]) => readonly number[];
  }
}

export interface UsersListDependencies {
  readonly users: Pick<Users, 'list' | 'count'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly url: () => string;
  readonly prepare: PrepareUser;
}

interface ListParams extends Record<string, unknown> {
  readonly context: UserContext;
  readonly page: number;
  readonly per_page: number;
  readonly offset?: number;
  readonly search?: string;
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  readonly slug?: readonly string[];
  readonly roles?: readonly string[];
  readonly order: 'asc' | 'desc';
  readonly orderby: keyof typeof orders;
}

const orders = {
  id: 'id',
  include: 'id',
  name: 'displayName',
  registered_date: 'registeredAt',
  slug: 'slug',
  email: 'email',
} as const;

const args: Record<keyof ListParams & string, RouteArgument> = {
  ...collectionArguments,
  slug: { ...slugsArgument, description: 'Limit result set to users with one or more specific slugs.' },
  roles: {
    description: 'Limit result set to users matching at least one specific role provided.',
    type: 'array',
    ...argumentBounds.list,
    items: { type: 'string', ...argumentBounds.line },
  },
  order: orderArgument('asc'),
  orderby: {
    description: 'Sort collection by user attribute.',
    type: 'string',
    enum: Object.keys(orders),
    default: 'name',
  },
};

/** `GET /wp/v2/users`: all users with the capability `list_users`; otherwise the caller and public authors. */
export function usersListRoute({ users, hooks, url, prepare }: UsersListDependencies): RouteDefinition<ListParams> {
  async function filterFor({ user, params }: RestRequest<ListParams>): Promise<UserFilter> {
    const { search, include, exclude, roles, slug } = params;
    const filter: UserFilter = {
      ...(search !== undefined && { search }),
      ...(exclude !== undefined && exclude.length > 0 && { exclude }),
      ...(roles !== undefined && roles.length > 0 && { roles }),
      ...(slug !== undefined && slug.length > 0 && { slugs: slug }),
    };
    const chosen = include !== undefined && include.length > 0 ? include : null;
    if (user.can('list_users')) return { ...filter, ...(chosen && { include: chosen }) };
    const visible = new Set(await hooks.applyFiltersAsync('rest_public_authors', []));
    if (user.id !== 0) visible.add(user.id);
    // These callers cannot see logins and email addresses, so they cannot search them either.
    return {
      ...filter,
      searchIn: ['displayName'],
      include: chosen ? chosen.filter((id) => visible.has(id)) : [...visible],
    };
  }

  return {
    methods: ['GET'],
    args,
    schema: userSchema,
    summary: 'Lists users.',
    // Authors of published content are public.
    security: ['none', 'session', 'application_password'],
    permission: mayList,
    async handler(request) {
      const { params } = request;
      const filter = await filterFor(request);
      const total = await users.count(filter);
      const found = total === 0 ? [] : await users.list({ ...filter, ...toPage(params), total });
      const body = await Promise.all(
        sortByInclude(found, params).map((user) => prepare(user, params.context, request)),
      );
      return new RestResponse({
        body,
        headers: pagingHeaders({
          total,
          page: params.page,
          perPage: params.per_page,
          url: url(),
          query: request.query,
        }),
      });
    },
  };
}

function mayList(request: RestRequest<ListParams>): true {
  const { user, params } = request;
  if (user.can('list_users')) return true;
  if ((params.roles ?? []).length > 0)
    throw refused(request, 'rest_user_cannot_view', 'Sorry, you are not allowed to filter users by role.');
  if (params.context === 'edit')
    throw refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to list users.');
  if (params.orderby === 'email' || params.orderby === 'registered_date')
    throw refused(request, 'rest_forbidden_orderby', 'Sorry, you are not allowed to order users by this parameter.');
  return true;
}

function toPage({ page, per_page, offset, orderby, order, include }: ListParams): UserQuery {
  // The URL limits the number of ids, so all are read and sorted in memory.
  if (orderby === 'include' && include !== undefined && include.length > 0) return { limit: include.length };
  return {
    limit: per_page,
    offset: offset ?? (page - 1) * per_page,
    orderBy: orders[orderby],
    descending: order === 'desc',
  };
}

function sortByInclude<Item extends { readonly id: number }>(
  found: readonly Item[],
  { orderby, include, page, per_page, offset }: ListParams,
): readonly Item[] {
  if (orderby !== 'include' || include === undefined || include.length === 0) return found;
  const start = offset ?? (page - 1) * per_page;
  return [...found]
    .sort((one, other) => include.indexOf(one.id) - include.indexOf(other.id))
    .slice(start, start + per_page);
}
