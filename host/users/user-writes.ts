import { RestError, RestResponse, restError, withoutUndefined } from '#plugin-api';
import type { HooksApi, RestRequest, RouteArgument, RouteDefinition, User, UserProfile } from '#plugin-api';
import { profileColumns } from './profile.ts';
import { detailsOf, keyOf } from './user-input.ts';
import { refused, userBody, userSchema, type UserContext } from './user-response.ts';
import type { Users } from './users.ts';
import { applicationPasswordNotAllowed } from './fresh-sign-in.ts';

/** Validated parameters of the routes for one user. */
export interface UserParams extends Record<string, unknown> {
  readonly id?: number;
  readonly context?: UserContext;
  readonly username?: string;
  readonly name?: string;
  readonly email?: string;
  readonly password?: string;
  readonly roles?: readonly string[];
  readonly force?: boolean;
  readonly reassign?: number | false;
}

export interface UserWritesDependencies {
  readonly users: Users;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
  readonly respond: (user: User, context: UserContext, request: RestRequest) => Promise<RestResponse>;
  readonly url: () => string;
  readonly programs: Programs;
}

/** What application passwords may do with users. */
export interface Programs {
  /** Whether the user of a request has signed in with an application password. */
  isProgram(user: User): boolean;
  /** Whether the site allows them to assign roles. */
  mayAssignRoles(): Promise<boolean>;
}

type Args = Readonly<Record<string, RouteArgument>>;
type Find = (request: Pick<RestRequest<UserParams>, 'params' | 'user'>) => User | Promise<User>;

const defaultRole = 'subscriber';

export function createUserWrites(dependencies: UserWritesDependencies) {
  return {
    create: (args: Args) => createRoute(dependencies, args),
    update: (find: Find, args: Args) => updateRoute(dependencies, find, args),
    remove: (find: Find, args: Args) => removeRoute(dependencies, find, args),
  };
}

function mayCreate(request: Pick<RestRequest, 'user'>): true {
  if (!request.user.can('create_users'))
    throw refused(request, 'rest_cannot_create_user', 'Sorry, you are not allowed to create new users.');
  return true;
}

/**
 * Who assigns a role needs a fresh sign-in, as for a password: a new administrator would outlive a change of both. Programs may
 * do it only where an administrator has allowed it.
 */
async function requireSignInForRoles(request: RestRequest<UserParams>, programs: Programs): Promise<void> {
  if (!programs.isProgram(request.user)) return request.requireFreshSignIn();
  if (!(await programs.mayAssignRoles()))
    throw applicationPasswordNotAllowed(
      'Application passwords cannot assign roles. An administrator can allow it in Settings, Security.',
    );
}

function createRoute(
  { users, hooks, respond, url, programs }: UserWritesDependencies,
  args: Args,
): RouteDefinition<UserParams> {
  return {
    methods: ['POST'],
    args,
    summary: 'Creates a user.',
    responses: { 201: { description: 'Created.', schema: userSchema, headers: { Location: 'URL of the user.' } } },
    permissionBeforeBody: mayCreate,
    permission: mayCreate,
    async handler(request) {
      const { username = '', email = '', password = '', name, roles = [] } = request.params;
      checkRoles(users, roles);
      if (roles.some((role) => role !== defaultRole)) {
        if (!request.user.can('promote_users'))
          throw refused(request, 'rest_cannot_edit_roles', 'Sorry, you are not allowed to give users that role.');
        await requireSignInForRoles(request, programs);
      }
      const created = await withRestNames(
        users.create({
          login: username,
          email,
          password,
          ...(name !== undefined && { displayName: name }),
          role: roles[0] ?? defaultRole,
          profile: readProfile(request),
        }),
      );
      const user = roles.length > 1 ? await users.update(created.id, { roles }) : created;
      await hooks.doActionAsync('rest_after_insert_user', user, request, true);
      const response = await respond(user, 'edit', request);
      response.status = 201;
      response.headers['Location'] = `${url()}/${user.id}`;
      return response;
    },
  };
}

function updateRoute(
  { users, hooks, respond, programs }: UserWritesDependencies,
  find: Find,
  args: Args,
): RouteDefinition<UserParams> {
  const findEditable: Find = async (request) => {
    const user = await find(request);
    if (!request.user.can('edit_user', user.id))
      throw refused(request, 'rest_cannot_edit', 'Sorry, you are not allowed to edit this user.');
    return user;
  };
  return {
    methods: ['POST', 'PUT', 'PATCH'],
    args,
    summary: 'Updates a user.',
    permissionBeforeBody: async ({ user, url }) => {
      await findEditable({ user, params: { id: Number(url['id']) } });
      return true;
    },
    permission: async (request) => {
      const user = await findEditable(request);
      const { roles } = request.params;
      if (roles !== undefined && roles.length > 0) {
        if (!request.user.can('promote_user', user.id))
          throw refused(request, 'rest_cannot_edit_roles', 'Sorry, you are not allowed to edit roles of this user.');
        if (changesRoles(user, roles)) await requireSignInForRoles(request, programs);
      }
      if (changesSignIn(user, request.params)) await request.requireFreshSignIn();
      return true;
    },
    async handler(request) {
      const before = await find(request);
      const { username, name, email, password, roles } = request.params;
      if (username !== undefined && username !== before.login)
        throw restError(400, 'rest_user_invalid_argument', "Username isn't editable.");
      checkRoles(users, roles ?? []);
      const profile = readProfile(request);
      const changes = {
        ...withoutUndefined({ displayName: name, email, password }),
        ...(roles !== undefined && roles.length > 0 && { roles }),
        ...(Object.keys(profile).length > 0 && { profile }),
      };
      const user = Object.keys(changes).length === 0 ? before : await withRestNames(users.update(before.id, changes));
      await hooks.doActionAsync('rest_after_insert_user', user, request, false);
      return respond(user, 'edit', request);
    },
  };
}

function removeRoute(
  { users, hooks, respond }: UserWritesDependencies,
  find: Find,
  args: Args,
): RouteDefinition<UserParams> {
  return {
    methods: ['DELETE'],
    args,
    summary: 'Deletes a user.',
    responses: {
      200: {
        description: 'Deleted.',
        schema: { type: 'object', properties: { deleted: { type: 'boolean' }, previous: userSchema } },
      },
    },
    permission: async (request) => {
      const { id } = await find(request);
      if (!request.user.can('delete_user', id))
        throw refused(request, 'rest_user_cannot_delete', 'Sorry, you are not allowed to delete this user.');
      return true;
    },
    async handler(request) {
      const user = await find(request);
      const { force = false, reassign = false } = request.params;
      if (!force)
        throw restError(501, 'rest_trash_not_supported', "Users do not support trashing. Set 'force=true' to delete.");
      await request.requireFreshSignIn();
      const previous = (await respond(user, 'edit', request)).body as ReturnType<typeof userBody>;
      await users.delete(user.id, { reassignTo: reassign === false ? null : reassign });
      const response = new RestResponse({ body: { deleted: true, previous } });
      await hooks.doActionAsync('rest_delete_user', user, response, request);
      return response;
    },
  };
}

/** Whether the user signs in otherwise afterwards: with another password or email address. */
function changesSignIn(user: User, { password, email }: UserParams): boolean {
  return password !== undefined || (email !== undefined && keyOf(email) !== keyOf(user.email));
}

function changesRoles({ roles: before }: User, roles: readonly string[]): boolean {
  return before.length !== roles.length || before.some((role) => !roles.includes(role));
}

/** The profile fields of the request by stored member. */
function readProfile({ params }: RestRequest<UserParams>): Partial<UserProfile> {
  return Object.fromEntries(
    Object.entries(profileColumns)
      .filter(([, column]) => typeof params[column] === 'string')
      .map(([member, column]) => [member, params[column]]),
  );
}

function checkRoles({ isRole }: Pick<Users, 'isRole'>, roles: readonly string[]): void {
  const unknown = roles.find((role) => !isRole(role));
  if (unknown !== undefined) throw restError(400, 'rest_user_invalid_role', `The role ${unknown} does not exist.`);
}

/** REST names of stored members. */
const restNames: Readonly<Record<string, string>> = { login: 'username', display_name: 'name', role: 'roles' };

/** Renames members in errors to their REST names. */
async function withRestNames<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    const params =
      error instanceof RestError
        ? (error.data as { params?: Readonly<Record<string, string>> } | undefined)?.params
        : undefined;
    if (!(error instanceof RestError) || params === undefined) throw error;
    const errors = Object.fromEntries(
      Object.entries(params).map(([name, message]) => [restNames[name] ?? name, message]),
    );
    const message =
      error.code === 'rest_invalid_param' ? `Invalid parameter(s): ${Object.keys(errors).join(', ')}` : error.message;
    throw new RestError({
      code: error.code,
      message,
      status: error.status,
      data: { params: errors, details: detailsOf(errors) },
      cause: error,
    });
  }
}
