import {
  argumentBounds,
  RestError,
  restError,
  type Clock,
  type DatabaseApi,
  type HooksApi,
  type OptionsApi,
  type User,
  type RestApi,
  type RestLink,
  type RestRequest,
  type RestResponse,
  type RouteArgument,
  type SiteApi,
  type UsersApi,
  type Params,
  type Post,
  type PostType,
  type JsonSchema,
  type RouteResponse,
  type RouteSecurity,
} from '#plugin-api';
import type { ContentParts } from '../content.ts';
import type { PostPasswords } from '../posts/post-passwords.ts';

/** Authentication of routes that are public for published content and accept users for the rest. */
export const publicReadSecurity: readonly RouteSecurity[] = ['none', 'session', 'application_password'];

/** Response documentation for a created resource. */
export const createdResponse: Readonly<Record<number, RouteResponse>> = {
  201: { description: 'Created.', headers: { Location: 'URL of the resource.' } },
};

/** Response body after a permanent deletion. */
export function deletedSchema(previous: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { deleted: { type: 'boolean', required: true }, previous: { ...previous, required: true } },
  };
}

declare module '#plugin-api' {
  interface ActionMap {
    /** Runs after REST created or changed a post or media file. Also as `rest_insert_{type}` and `rest_after_insert_{type}`. */
    rest_insert_post: (post: Post, request: RestRequest, creating: boolean) => void;
    /** After a post was deleted or moved to the trash over REST. */
    rest_delete_post: (post: Post, response: RestResponse, request: RestRequest) => void;
  }
}

export interface ContentRestDependencies {
  readonly rest: RestApi & {
    /** Runs the work once, before the routes are next read. */
    beforeRead(work: () => void): void;
  };
  readonly parts: ContentParts;
  readonly hooks: HooksApi;
  readonly transaction: DatabaseApi['transaction'];
  readonly users: Pick<UsersApi, 'get'>;
  readonly passwords: Pick<PostPasswords, 'check'>;
  /** Counts a comment by the address of its author. @throws RestError 429 `comment_flood`. */
  readonly countComment: (ip: string) => Promise<void>;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly avatarUrl: (user: Pick<User, 'login' | 'displayName'>, size: number) => string;
  readonly site: Pick<SiteApi, 'url' | 'timezone'>;
}

export type Context = 'view' | 'embed' | 'edit';
export type Request = RestRequest<Params>;

export const idArgument: RouteArgument = {
  description: 'Unique identifier for the post.',
  type: 'integer',
  ...argumentBounds.id,
};

export function postUrl({ rest }: ContentRestDependencies, { restBase }: PostType, { id }: Post): string {
  return rest.url(`/wp/v2/${restBase}/${id}`);
}

/** Sets status 201 and the URL of the created resource. */
export function created(response: RestResponse, address: string): RestResponse {
  response.status = 201;
  response.headers['Location'] = address;
  return response;
}

export const passwordArgument: RouteArgument = {
  description: 'The password for the post if it is password protected.',
  type: 'string',
  maxLength: 255,
};

/** 401 for a visitor, 403 for a signed-in user. */
export function refused(request: Pick<RestRequest, 'user'>, code: string, message: string): RestError {
  return restError(request.user.id === 0 ? 401 : 403, code, message);
}

/** Why one parameter is invalid. */
export interface InvalidValue {
  readonly name: string;
  readonly message: string;
  /** Code in `details`. Default `rest_invalid_param`. */
  readonly code?: string;
}

/** `rest_invalid_param` as for parameters that their schema rejects (D4). */
export function invalidValue({ name, message, code = 'rest_invalid_param' }: InvalidValue): RestError {
  return new RestError({
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${name}`,
    status: 400,
    data: { params: { [name]: message }, details: { [name]: { code, message, data: null } } },
  });
}

/** A parameter that names something that does not exist: WordPress's code, with the members of D4. */
export function invalidReference({ name, message, code = 'rest_invalid_param' }: InvalidValue): RestError {
  const { data } = invalidValue({ name, message, code });
  return new RestError({ code, message, status: 400, data });
}

/** The top-level members that `_fields` selects; null: all. */
export function requestedMembers({ query, params }: Pick<RestRequest, 'query' | 'params'>): ReadonlySet<string> | null {
  const fields = params['_fields'] ?? query['_fields'];
  if (fields === undefined) return null;
  const names = [fields].flat().flatMap((list) => String(list).split(/[\s,]+/));
  return new Set(names.map((name) => name.split('.')[0] ?? '').filter((name) => name !== ''));
}

export type Links = Record<string, RestLink[]>;

const vocabulary = 'https://api.w.org/';

/** `_links` of a list item, in the form that the REST server gives the links of a response. */
export function compactLinks(links: Links): Record<string, unknown> {
  const compacted: Record<string, unknown> = {};
  for (const [relation, items] of Object.entries(links))
    compacted[relation.startsWith(vocabulary) ? `wp:${relation.slice(vocabulary.length)}` : relation] = items;
  const isShortened = Object.keys(links).some((relation) => relation.startsWith(vocabulary));
  return isShortened
    ? { ...compacted, curies: [{ name: 'wp', href: `${vocabulary}{rel}`, templated: true }] }
    : compacted;
}
