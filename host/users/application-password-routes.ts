import {
  currentPasswordArgument,
  argumentBounds,
  contextArgument,
  restError,
  RestResponse,
  undoAll,
  type RestError,
} from '#plugin-api';
import type {
  JsonSchema,
  RestApi,
  RestRequest,
  RouteArgument,
  RouteDefinition,
  Undo,
  User,
  UsersApi,
} from '#plugin-api';
import type { ApplicationPasswordAccess } from './application-password-access.ts';
import type { ApplicationPassword, ApplicationPasswords } from './application-passwords.ts';
import { notLoggedIn, refused } from './user-response.ts';
import { unknownUser } from './user-changes.ts';

export interface ApplicationPasswordRoutesDependencies {
  readonly users: Pick<UsersApi, 'get'>;
  readonly applicationPasswords: ApplicationPasswords;
  readonly access: Pick<ApplicationPasswordAccess, 'managementError'>;
}

interface Params extends Record<string, unknown> {
  /** Digits, or `me`. */
  readonly user_id: string;
  readonly uuid?: string;
  readonly name?: string;
  readonly app_id?: string;
  readonly context?: string;
}

type Request = RestRequest<Params>;
type Caller = Pick<Request, 'params' | 'user'>;

const schema = {
  title: 'application-password',
  type: 'object',
  properties: {
    uuid: {
      type: 'string',
      format: 'uuid',
      description: 'The unique identifier for the application password.',
      readOnly: true,
    },
    app_id: { type: 'string', description: 'A UUID provided by the application to uniquely identify it.' },
    name: { type: 'string', description: 'The name of the application password.' },
    password: {
      type: 'string',
      description: 'The generated password. Only available after adding an application.',
      readOnly: true,
    },
    created: {
      type: 'string',
      format: 'date-time',
      description: 'The GMT date the application password was created.',
      readOnly: true,
    },
    last_used: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'The GMT date the application password was last used.',
      readOnly: true,
    },
    last_ip: {
      type: ['string', 'null'],
      format: 'ip',
      description: 'The IP address the application password was last used by.',
      readOnly: true,
    },
  },
} as const satisfies JsonSchema;

const appIdArgument: RouteArgument = {
  ...schema.properties.app_id,
  ...argumentBounds.uuid,
  oneOf: [{ type: 'string', ...argumentBounds.uuid, format: 'uuid' }, { enum: [''] }],
};
const newArgs: Record<'name' | 'app_id', RouteArgument> = {
  // As in WordPress, a name is plain text: tags are removed.
  name: {
    ...schema.properties.name,
    required: true,
    ...{ minLength: 1, maxLength: 100, pattern: '\\S', format: 'text-field' },
  },
  app_id: { ...appIdArgument, default: '' },
};

const readArgs = { context: contextArgument };

/**
 * `/wp/v2/users/<id|me>/application-passwords`: list, create, read, rename and revoke. `introspect` returns the password of
 * the current request. Only the response to create contains the secret.
 */
export function addApplicationPasswordRoutes(rest: RestApi, dependencies: ApplicationPasswordRoutesDependencies): Undo {
  const context = createContext(rest, dependencies);
  const base = '/users/(?P<user_id>(?:\\d+|me))/application-passwords';
  return undoAll([
    rest.registerRoute('wp/v2', base, collectionRoutes(context)),
    rest.registerRoute('wp/v2', `${base}/introspect`, introspectRoute(context)),
    rest.registerRoute('wp/v2', `${base}/(?P<uuid>[\\w-]+)`, singleRoutes(context)),
  ]);
}

/** Members besides the stored ones; the context of WordPress, default `view`. */
interface Showing {
  readonly more?: Readonly<Record<string, unknown>>;
  readonly context?: string | undefined;
}

type Context = ReturnType<typeof createContext>;

function createContext(rest: RestApi, dependencies: ApplicationPasswordRoutesDependencies) {
  const { applicationPasswords: passwords } = dependencies;
  const findOwner = createFindOwner(dependencies);
  const address = (user: User): string => rest.url(`/wp/v2/users/${user.id}/application-passwords`);
  return {
    passwords,
    findOwner,
    address,
    respond: (user: User, item: ApplicationPassword, { more = {}, context }: Showing = {}): RestResponse =>
      new RestResponse({
        body: { ...toBody(item, context), ...more },
        links: { self: [{ href: `${address(user)}/${item.id}` }] },
      }),
    async find(user: User, uuid: string | undefined): Promise<ApplicationPassword> {
      const item = (await passwords.list(user.id)).find(({ id }) => id === uuid);
      if (item === undefined) throw notFound();
      return item;
    },
    permission:
      (capability: string, code: string, what: string) =>
      async (request: Caller): Promise<true> => {
        const user = await findOwner(request);
        if (!request.user.can(capability, user.id, request.params.uuid))
          throw refused(request, code, `Sorry, you are not allowed to ${what} for this user.`);
        return true;
      },
  };
}

const define = (definition: RouteDefinition<Params>): RouteDefinition => ({ schema, ...definition }) as RouteDefinition;

function collectionRoutes({ passwords, findOwner, address, respond, permission }: Context): RouteDefinition[] {
  const mayCreate = permission(
    'create_app_password',
    'rest_cannot_create_application_passwords',
    'create application passwords',
  );
  return [
    define({
      summary: 'Lists a user’s application passwords.',
      args: readArgs,
      responses: {
        200: { description: 'All application passwords, oldest first.', schema: { type: 'array', items: schema } },
      },
      permission: permission(
        'list_app_passwords',
        'rest_cannot_list_application_passwords',
        'list application passwords',
      ),
      handler: async (request) => {
        const user = await findOwner(request);
        const items = await passwords.list(user.id);
        return items.map((item) => {
          const may = (capability: string): boolean => request.user.can(capability, user.id, item.id);
          return { ...toBody(item, request.params.context), _links: listedLinks(`${address(user)}/${item.id}`, may) };
        });
      },
    }),
    define({
      methods: ['POST'],
      summary: 'Creates an application password.',
      responses: {
        201: {
          description: 'Created. Only this response contains the password.',
          headers: { Location: 'URL of the application password.' },
        },
      },
      args: { ...newArgs, current_password: currentPasswordArgument },
      permissionBeforeBody: (request) => mayCreate(callerOf(request)),
      permission: async (request) => {
        await mayCreate(request);
        await request.requireFreshSignIn();
        return true;
      },
      handler: async (request) => {
        const user = await findOwner(request);
        const { name = '', app_id = '' } = request.params;
        const { password, item } = await passwords.create(user.id, name, app_id);
        const response = respond(user, item, { more: { password } });
        response.status = 201;
        response.headers['Location'] = `${address(user)}/${item.id}`;
        return response;
      },
    }),
    define({
      methods: ['DELETE'],
      summary: 'Revokes all of a user’s application passwords.',
      responses: {
        200: {
          description: 'Revoked.',
          schema: { type: 'object', properties: { deleted: { type: 'boolean' }, count: { type: 'integer' } } },
        },
      },
      permission: permission(
        'delete_app_passwords',
        'rest_cannot_delete_application_passwords',
        'delete application passwords',
      ),
      handler: async (request) => {
        const user = await findOwner(request);
        const items = await passwords.list(user.id);
        for (const { id } of items) await passwords.revoke(user.id, id);
        return { deleted: true, count: items.length };
      },
    }),
  ];
}

/** Before the body is read, only the path is known. */
function callerOf({ user, url }: Request): Caller {
  return { user, params: { ...url, user_id: String(url['user_id']) } };
}

function singleRoutes({ passwords, findOwner, respond, find, permission }: Context): RouteDefinition[] {
  const mayEdit = permission(
    'edit_app_password',
    'rest_cannot_edit_application_password',
    'edit this application password',
  );
  return [
    define({
      summary: 'Reads one application password.',
      args: readArgs,
      permission: permission(
        'read_app_password',
        'rest_cannot_read_application_password',
        'read this application password',
      ),
      handler: async (request) => {
        const user = await findOwner(request);
        return respond(user, await find(user, request.params.uuid), { context: request.params.context });
      },
    }),
    define({
      methods: ['POST', 'PUT', 'PATCH'],
      summary: 'Renames one application password.',
      args: {
        name: { ...newArgs.name, required: false },
        app_id: appIdArgument,
      },
      permissionBeforeBody: (request) => mayEdit(callerOf(request)),
      permission: mayEdit,
      handler: async (request) => {
        const user = await findOwner(request);
        const { name, app_id } = request.params;
        const { id } = await find(user, request.params.uuid);
        const item = await passwords.update(user.id, id, {
          ...(name !== undefined && { name }),
          ...(app_id !== undefined && { appId: app_id }),
        });
        // It was revoked in the meantime.
        if (item === null) throw notFound();
        return respond(user, item);
      },
    }),
    define({
      methods: ['DELETE'],
      summary: 'Revokes one application password.',
      responses: {
        200: {
          description: 'Revoked.',
          schema: { type: 'object', properties: { deleted: { type: 'boolean' }, previous: schema } },
        },
      },
      permission: permission(
        'delete_app_password',
        'rest_cannot_delete_application_password',
        'delete this application password',
      ),
      handler: async (request) => {
        const user = await findOwner(request);
        const item = await find(user, request.params.uuid);
        await passwords.revoke(user.id, item.id);
        return { deleted: true, previous: toBody(item) };
      },
    }),
  ];
}

/** Only about the current request, so that users cannot inspect the passwords of others. */
function introspectRoute({ passwords, findOwner, respond, find }: Context): RouteDefinition {
  return define({
    summary: 'Reads the application password of the current request.',
    args: readArgs,
    permission: async (request) => {
      const user = await findOwner(request);
      if (request.user.id !== user.id)
        throw refused(
          request,
          'rest_cannot_introspect_app_password_for_non_authenticated_user',
          'The authenticated application password can only be introspected for the current user.',
        );
      return true;
    },
    handler: async (request) => {
      const uuid = passwords.usedBy(request.user);
      if (uuid === null)
        throw restError(404, 'rest_no_authenticated_app_password', 'Cannot introspect application password.');
      const user = await findOwner(request);
      return respond(user, await find(user, uuid), { context: request.params.context });
    },
  });
}

/** @throws RestError 401 for `me` without a sign-in, 404 for an unknown user, 501 where application passwords are off. */
function createFindOwner({ users, access }: ApplicationPasswordRoutesDependencies) {
  async function find({ params, user }: Caller): Promise<User> {
    if (String(params.user_id).toLowerCase() === 'me') {
      if (user.id === 0) throw notLoggedIn();
      return user;
    }
    const found = await users.get(Number(params.user_id));
    if (found === null) throw unknownUser();
    return found;
  }
  const requireAvailable = async (owner?: User): Promise<void> => {
    const error = await access.managementError(owner);
    if (error !== null) throw error;
  };
  return async (caller: Caller): Promise<User> => {
    await requireAvailable();
    const owner = await find(caller);
    await requireAvailable(owner);
    return owner;
  };
}

/** `_links` of an item in the list, with the methods that the caller may use on it. */
function listedLinks(href: string, may: (capability: string) => boolean): Record<string, unknown> {
  const allow = [
    ...(may('read_app_password') ? ['GET'] : []),
    ...(may('edit_app_password') ? ['POST', 'PUT', 'PATCH'] : []),
    ...(may('delete_app_password') ? ['DELETE'] : []),
  ];
  return { self: [{ href, targetHints: { allow } }] };
}

function notFound(): RestError {
  return restError(404, 'rest_application_password_not_found', 'Application password not found.');
}

/** When it was used is left out of `context=embed`. */
function toBody(item: ApplicationPassword, context = 'view'): Record<string, unknown> {
  const moment = (at: number): string => new Date(at).toISOString().slice(0, 19);
  const embedded = { uuid: item.id, app_id: item.appId, name: item.name };
  if (context === 'embed') return embedded;
  return {
    ...embedded,
    created: moment(item.createdAt),
    last_used: item.lastUsedAt === null ? null : moment(item.lastUsedAt),
    last_ip: item.lastIp,
  };
}
