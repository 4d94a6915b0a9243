import {
  RestError,
  type HooksApi,
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
  type RouteAnswer,
  type RouteSecurity,
} from '#plugin-api';
import type { ContentParts } from '../content.ts';

/** Ways into what everybody may read as far as it is published, and some may read further. */
export const publicReading: readonly RouteSecurity[] = ['none', 'session', 'application_password'];

/** The answer to a post that was made. */
export const createdAnswer: Readonly<Record<number, RouteAnswer>> = {
  201: { description: 'Made.', headers: { Location: 'Its address.' } },
};

/** What is left of something that was deleted for good. */
export function deletedSchema(previous: JsonSchema): JsonSchema {
  return {
    type: 'object',
    properties: { deleted: { type: 'boolean', required: true }, previous: { ...previous, required: true } },
  };
}

declare module '#plugin-api' {
  interface ActionMap {
    /** A media file or post was made or changed through REST; also as `rest_insert_{type}` and `rest_after_insert_{type}`. */
    rest_insert_post: (post: Post, request: RestRequest, creating: boolean) => void;
    rest_delete_post: (post: Post, response: RestResponse, request: RestRequest) => void;
  }
}

/** What the routes of content are made with. */
export interface ContentRestDependencies {
  readonly rest: RestApi;
  readonly parts: ContentParts;
  readonly hooks: HooksApi;
  readonly users: Pick<UsersApi, 'get'>;
  readonly site: Pick<SiteApi, 'url' | 'timezone'>;
}

export type Context = 'view' | 'embed' | 'edit';
export type Request = RestRequest<Params>;

export const contextArgument: RouteArgument = {
  description: 'Scope under which the request is made; determines fields present in response.',
  type: 'string',
  enum: ['view', 'embed', 'edit'],
  default: 'view',
};

export const idArgument: RouteArgument = { description: 'Unique identifier for the post.', type: 'integer' };

/** The REST address of a post. */
export function addressOf({ rest }: ContentRestDependencies, { restBase }: PostType, { id }: Post): string {
  return rest.url(`/wp/v2/${restBase}/${id}`);
}

/** 201 with the address of what was made. */
export function created(response: RestResponse, address: string): RestResponse {
  response.status = 201;
  response.headers['Location'] = address;
  return response;
}

/** 401 for a visitor, 403 for somebody who is signed in. */
export function refused(request: Pick<RestRequest, 'user'>, code: string, message: string): RestError {
  return new RestError({ code, message, status: request.user.id === 0 ? 401 : 403 });
}

export function badRequest(code: string, message: string, status = 400): RestError {
  return new RestError({ code, message, status });
}

/** As in WordPress, `_fields` leaves the links out unless it names them. */
export function wantsLinks({ query }: Pick<RestRequest, 'query'>): boolean {
  const fields = query['_fields'];
  return fields === undefined || [fields].flat().some((list) => /(^|,)\s*(_links|_embedded)\b/.test(String(list)));
}

export type Links = Record<string, RestLink[]>;

const vocabulary = 'https://api.w.org/';

/** `_links` of one item of a list: what the REST interface makes of a response's links. */
export function compactLinks(links: Links): Record<string, unknown> {
  const compacted: Record<string, unknown> = {};
  for (const [relation, items] of Object.entries(links))
    compacted[relation.startsWith(vocabulary) ? `wp:${relation.slice(vocabulary.length)}` : relation] = items;
  const isShortened = Object.keys(links).some((relation) => relation.startsWith(vocabulary));
  return isShortened
    ? { ...compacted, curies: [{ name: 'wp', href: `${vocabulary}{rel}`, templated: true }] }
    : compacted;
}

export interface Paging {
  readonly total: number;
  readonly page: number;
  readonly perPage: number;
  /** Address of the collection. */
  readonly url: string;
  /** The request's own parameters, kept in the links. */
  readonly query: Params;
}

/** `X-WP-Total`, `X-WP-TotalPages` and `Link` of one page of a collection. */
export function pagingHeaders({ total, page, perPage, url, query }: Paging): Record<string, string> {
  const pages = Math.ceil(total / perPage);
  const link = (to: number, relation: string): string =>
    `<${url}?${queryText({ ...query, page: String(to) })}>; rel="${relation}"`;
  const links = [
    ...(page > 1 ? [link(Math.max(1, Math.min(page - 1, pages)), 'prev')] : []),
    ...(page < pages ? [link(page + 1, 'next')] : []),
  ];
  return {
    'X-WP-Total': String(total),
    'X-WP-TotalPages': String(pages),
    ...(links.length > 0 && { Link: links.join(', ') }),
  };
}

/** Parameters as PHP reads them: `status[0]=draft`. */
function queryText(query: Params): string {
  const pairs = new URLSearchParams();
  const add = (name: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) pairs.append(name, String(value ?? ''));
    else for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
  };
  for (const [name, value] of Object.entries(query)) add(name, value);
  return pairs.toString();
}
