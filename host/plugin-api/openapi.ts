import type { JsonSchema } from './schema.ts';

/** A way to sign in that is one parameter: a key in the query, a header or a cookie. */
export interface RouteKey {
  readonly name: string;
  readonly in: 'query' | 'header' | 'cookie';
  readonly description?: string;
}

/**
 * A way in, as OpenAPI shows it. `none`: without signing in. `session`: the cookie of a session with its nonce.
 * `application_password`: user name and application password. `bearer`: a token in `Authorization`.
 */
export type RouteSecurity = 'none' | 'session' | 'application_password' | 'bearer' | RouteKey;

/** An answer of a route, as OpenAPI shows it. */
export interface RouteResponse {
  readonly description: string;
  /** Of the whole body; left out: the route's `schema`, for a status of 2xx. */
  readonly schema?: JsonSchema;
  /** Headers of the answer by name, with what they mean. */
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
  /** Operations by path below the server's address, then by method in lower case. */
  paths: Record<string, Record<string, OpenApiObject>>;
  /** What the site sends by itself, by name. */
  webhooks?: Record<string, Record<string, OpenApiObject>>;
  components: Record<string, Record<string, OpenApiObject>>;
}
