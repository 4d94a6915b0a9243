import {
  currentPasswordArgument,
  argumentBounds,
  contextArgument,
  RestError,
  RestResponse,
  undoAll,
  wantsLinks,
} from '#plugin-api';
import type { HooksApi, RestApi, RestRequest, RouteArgument, RouteDefinition, Undo, User } from '#plugin-api';
import type { AvatarUrl } from './avatars.ts';
import { roleNames } from './roles.ts';
import { notLoggedIn, refused, userBody, userSchema, type UserContext } from './user-response.ts';
import { unknownUser } from './user-changes.ts';
import { createUserWrites, type Programs, type UserParams } from './user-writes.ts';
import { usersListRoute } from './users-list.ts';
import type { Users } from './users.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The response for one user. */
    rest_prepare_user: (response: RestResponse, user: User, request: RestRequest) => RestResponse;
  }
  interface ActionMap {
    /** After `/wp/v2/users` created (`creating`) or updated a user. */
    rest_after_insert_user: (user: User, request: RestRequest, creating: boolean) => void;
    /** After a user was deleted over REST. */
    rest_delete_user: (user: User, response: RestResponse, request: RestRequest) => void;
  }
}

export interface UsersRoutesDependencies {
  readonly users: Users;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
  /** Without a trailing slash. */
  readonly siteUrl: () => string;
  readonly avatarUrl: AvatarUrl;
  readonly programs: Programs;
}

type ProfileColumn = 'first_name' | 'last_name' | 'nickname' | 'slug' | 'url' | 'description' | 'locale';

/** Returns the body for one user, including links. */
export type PrepareUser = (user: User, context: UserContext, request: RestRequest) => Promise<unknown>;

const writable: Record<'name' | 'email' | 'password' | 'roles' | ProfileColumn, RouteArgument> = {
  name: { type: 'string', ...argumentBounds.line, description: 'Display name for the user.' },
  first_name: { type: 'string', ...argumentBounds.line, description: 'First name for the user.' },
  last_name: { type: 'string', ...argumentBounds.line, description: 'Last name for the user.' },
  nickname: { type: 'string', ...argumentBounds.line, description: 'The nickname for the user.' },
  slug: { type: 'string', ...argumentBounds.line, description: 'An alphanumeric identifier for the user.' },
  url: { type: 'string', maxLength: 8_192, description: 'URL of the user: http or https, or empty.' },
  description: { type: 'string', ...argumentBounds.paragraph, description: 'Description of the user.' },
  locale: {
    type: 'string',
    ...argumentBounds.key,
    description: 'Locale for the user, such as de_DE. Empty for the locale of the site.',
  },
  email: { type: 'string', format: 'email', ...argumentBounds.line, description: 'The email address for the user.' },
  password: { type: 'string', maxLength: 4_096, description: 'Password for the user (never included).' },
  roles: {
    type: 'array',
    ...argumentBounds.list,
    items: { type: 'string', ...argumentBounds.key },
    description: `Roles assigned to the user: ${roleNames.join(', ')}, or one that a plugin adds.`,
  },
};
const createArgs: Record<string, RouteArgument> = {
  ...writable,
  username: { type: 'string', ...argumentBounds.line, required: true, description: 'Login name for the user.' },
  email: { ...writable.email, required: true },
  password: { ...writable.password, required: true },
  current_password: currentPasswordArgument,
};
const updateArgs: Record<string, RouteArgument> = {
  ...writable,
  current_password: currentPasswordArgument,
  username: { type: 'string', ...argumentBounds.line, description: 'Login name; cannot be changed.' },
};
const deleteArgs: Record<string, RouteArgument> = {
  current_password: currentPasswordArgument,
  force: { type: 'boolean', default: false, description: 'Required to be true, as users do not support trashing.' },
  reassign: {
    required: true,
    description: 'ID of the user who receives the content of the deleted user; false deletes it.',
    sanitize: (value) => (value === false || value === 'false' || value === '' ? false : Number(value)),
    validate: (value) =>
      value === false ||
      value === 'false' ||
      value === '' ||
      (/^\d{1,10}$/.test(String(value)) && Number(value) > 0 && Number(value) <= argumentBounds.id.maximum) ||
      'Invalid user parameter(s).',
  },
};

/** `/wp/v2/users`, `/wp/v2/users/<id>` and `/wp/v2/users/me`, with the capabilities, contexts and error codes of WordPress. */
export function addUsersRoutes(rest: RestApi, dependencies: UsersRoutesDependencies): Undo {
  const { users, hooks, siteUrl, avatarUrl, programs } = dependencies;
  const url = (): string => rest.url('/wp/v2/users');
  const respond = async (user: User, context: UserContext, request: RestRequest): Promise<RestResponse> => {
    const response = new RestResponse({
      body: userBody(user, context, { siteUrl: siteUrl(), avatarUrl, roles: users }),
      ...(wantsLinks(request) && { links: { self: [{ href: `${url()}/${user.id}` }], collection: [{ href: url() }] } }),
    });
    return hooks.applyFiltersAsync('rest_prepare_user', response, user, request);
  };
  const prepare: PrepareUser = async (user, context, request) => {
    const { body, links } = await respond(user, context, request);
    return { ...(body as Record<string, unknown>), _links: links };
  };
  const writes = createUserWrites({ users, hooks, respond, url, programs });
  const byId = async ({ params }: Pick<RestRequest<UserParams>, 'params'>): Promise<User> => {
    const user = await users.get(params.id ?? 0);
    if (user === null) throw unknownUser();
    return user;
  };
  const undos = [
    rest.registerRoute('wp/v2', '/users', [
      usersListRoute({ users, hooks, url, prepare }) as RouteDefinition,
      writes.create(createArgs) as RouteDefinition,
    ]),
    rest.registerRoute(
      'wp/v2',
      '/users/(?P<id>\\d+)',
      one({
        find: byId,
        id: { id: { type: 'integer', ...argumentBounds.id, description: 'Unique identifier for the user.' } },
        read: mayRead(dependencies),
      }),
    ),
    rest.registerRoute('wp/v2', '/users/me', one({ find: self, id: {}, read: () => true })),
  ];

  function one({ find, id, read }: OneUser): RouteDefinition[] {
    const get: RouteDefinition<UserParams> = {
      methods: ['GET'],
      args: { ...id, context: contextArgument },
      schema: userSchema,
      summary: 'Reads one user.',
      // Authors of published content are public. `me` requires sign-in.
      security: find === self ? ['session', 'application_password'] : ['none', 'session', 'application_password'],
      permission: async (request) => (find === self ? true : read(request, await find(request))),
      handler: async (request) => respond(await find(request), request.params.context ?? 'view', request),
    };
    return [
      get,
      writes.update(find, { ...id, ...updateArgs }),
      writes.remove(find, { ...id, ...deleteArgs }),
    ] as RouteDefinition[];
  }

  return undoAll(undos);
}

interface OneUser {
  readonly find: (request: Pick<RestRequest<UserParams>, 'params' | 'user'>) => User | Promise<User>;
  readonly id: Readonly<Record<string, RouteArgument>>;
  readonly read: (request: RestRequest<UserParams>, user: User) => unknown;
}

/** @throws RestError 401 for visitors. */
function self({ user }: Pick<RestRequest, 'user'>): User {
  if (user.id === 0) throw notLoggedIn();
  return user;
}

function mayRead({ hooks }: UsersRoutesDependencies) {
  return async (request: RestRequest<UserParams>, user: User): Promise<true | RestError> => {
    const { user: caller, params } = request;
    if (caller.id === user.id || caller.can('edit_user', user.id)) return true;
    if (params.context === 'edit')
      throw refused(request, 'rest_forbidden_context', 'Sorry, you are not allowed to edit this user.');
    if (caller.can('list_users') || (await hooks.applyFiltersAsync('rest_public_authors', [])).includes(user.id))
      return true;
    throw refused(request, 'rest_user_cannot_view', 'Sorry, you are not allowed to list users.');
  };
}
