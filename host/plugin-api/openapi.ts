import type { JsonSchema } from './schema.ts';

/** An API key in the query, a header or a cookie. */
export interface RouteKey {
  readonly name: string;
  readonly in: 'query' | 'header' | 'cookie';
  readonly description?: string;
}

/**
 * An authentication scheme, as documented in OpenAPI. `none`: no authentication. `session`: a session cookie with a nonce.
 * `application_password`: user name and application password. `bearer`: a token in `Authorization`.
 */
export type RouteSecurity = 'none' | 'session' | 'application_password' | 'bearer' | RouteKey;

/** A response of a route, as documented in OpenAPI. */
export interface RouteResponse {
  readonly description: string;
  /** Schema of the whole body. Default: the route's `schema`, for 2xx. */
  readonly schema?: JsonSchema;
  /** Response headers by name, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** @deprecated Use RouteResponse. */
export type RouteAnswer = RouteResponse;

/** JSON of an OpenAPI document; filters may add members. */
export type OpenApiObject = Record<string, unknown>;

/** An OpenAPI 3.1 document of one namespace. Schemas are JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export interface OpenApiDocument extends OpenApiObject {
  openapi: string;
  info: OpenApiObject & { title: string; version: string };
  servers: (OpenApiObject & { url: string })[];
  tags: (OpenApiObject & { name: string })[];
  /** Operations by path below the server URL, then by lower-case method. */
  paths: Record<string, Record<string, OpenApiObject>>;
  /** Webhooks that the site sends, by name. */
  webhooks?: Record<string, Record<string, OpenApiObject>>;
  components: Record<string, Record<string, OpenApiObject>>;
}
