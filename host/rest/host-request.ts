import { readBytes } from '#plugin-api';
import type { Headers, Logger, Params, RestError, RestRequest, User } from '#plugin-api';
import { bodyKind } from './body-kind.ts';
import { hostErrors, unreadableParameter } from './host-errors.ts';
import { parseJsonBody, parseLargeJsonBody, type ParsedJson } from './json-body.ts';
import { jsonBounds } from './json-bounds.ts';
import { parseQuery } from './php-query.ts';
import type { ParsedQuery } from './php-query.ts';
import type { Match } from './registry.ts';

export interface HostRequestInit {
  readonly method: string;
  readonly route: string;
  readonly query: ParsedQuery;
  readonly headers: Headers;
  readonly user: User;
  readonly id: string;
  readonly ip: string;
  readonly log: Logger;
  /** See RestRequest. */
  readonly plugin?: string | undefined;
  /** Parsed JSON or form instead of a body. The request owns and changes these objects. */
  readonly json?: unknown;
  readonly form?: Params;
  /** Calls back when the caller hangs up, or at once if it already has. */
  readonly onHangUp?: (listener: () => void) => void;
  readonly signal?: AbortSignal;
  /** See RestRequest; default `user`. */
  readonly pageUser?: () => Promise<User> | User;
  /** Absent for callers inside the process. */
  readonly countWrongKey?: () => Promise<void>;
  /** Absent for callers inside the process, which need no sign-in. */
  readonly requireFreshSignIn?: (given: {
    readonly user: User;
    readonly password: string | undefined;
  }) => Promise<void>;
}

interface ParsedBody {
  readonly json: unknown;
  readonly form: Params;
  readonly error: RestError | null;
}

const emptyBody = Buffer.alloc(0);

/** Bytes: parsing less takes some milliseconds. */
const largeBody = 262_144;

/**
 * A request as handlers see it. The body is parsed on first access, so that a caller without a key causes no parsing (D2).
 * Signal and logger are created on first use too.
 */
export class HostRequest implements RestRequest {
  readonly method: RestRequest['method'];
  readonly route: string;
  readonly query: Params;
  readonly headers: Headers;
  readonly user: User;
  readonly id: string;
  readonly ip: string;
  readonly plugin: string | undefined;
  params: Params = {};
  url: Params = {};
  /** The matched route; null before matching, or when no route matches. */
  match: Match | null = null;
  /** Result of the endpoint's permission check; undefined before it ran. */
  permitted: boolean | undefined = undefined;
  /** Why the body was not read. Null when there is a body, or none was sent. */
  unread: RestError | null = null;
  /** Whether `authenticate` refused. The response then has no `Allow`. */
  isUnauthenticated = false;
  readonly #init: HostRequestInit;
  #bytes: Buffer = emptyBody;
  #body: ParsedBody | undefined;
  #pageUser: Promise<User> | undefined;
  #signal: AbortSignal | undefined;
  #log: Logger | undefined;

  constructor(init: HostRequestInit) {
    this.#init = init;
    this.method = init.method as RestRequest['method'];
    this.route = init.route;
    this.query = init.query.params;
    this.headers = init.headers;
    this.user = init.user;
    this.id = init.id;
    this.ip = init.ip;
    this.plugin = init.plugin;
    this.#signal = init.signal;
  }

  /** Sets the body of a request over HTTP. Until then the request has none. A large one is parsed at once, in steps. */
  async receive(body: Buffer): Promise<void> {
    this.#bytes = body;
    const isLarge = body.length > largeBody && bodyKind(this.#init) === 'json';
    this.#body = isLarge ? readJson(await parseLargeJsonBody(body)) : undefined;
  }

  get json(): unknown {
    return this.#parsed().json;
  }

  get form(): Params {
    return this.#parsed().form;
  }

  get body(): Uint8Array {
    return this.#bytes;
  }

  pageUser(): Promise<User> {
    const { pageUser } = this.#init;
    return (this.#pageUser ??= Promise.resolve(this.user.id > 0 || pageUser === undefined ? this.user : pageUser()));
  }

  async requireFreshSignIn(): Promise<void> {
    const password = this.params['current_password'];
    await this.#init.requireFreshSignIn?.({
      user: this.user,
      password: typeof password === 'string' ? password : undefined,
    });
  }

  async countWrongKey(): Promise<void> {
    await this.#init.countWrongKey?.();
  }

  get signal(): AbortSignal {
    return (this.#signal ??= hangUpSignal(this.#init.onHangUp));
  }

  get log(): Logger {
    return (this.#log ??= this.#init.log.child({ request_id: this.id }));
  }

  /** Whether the caller is known to have hung up. */
  get isHungUp(): boolean {
    return this.#signal?.aborted === true;
  }

  /** Why body or query cannot be read, or null. */
  unreadable(): RestError | null {
    const { error } = this.#parsed();
    if (error !== null) return error;
    const queryError = this.#init.query.error;
    return queryError === null ? null : unreadableParameter(queryError.name, queryError.message);
  }

  /** Parameter sources, in order of precedence. A JSON list has its indexes as names; a scalar is parameter 0. */
  sources(defaults: Params | null): Params[] {
    const sources: Params[] = [];
    const { json } = this;
    if (typeof json === 'object' && json !== null) sources.push(json as Params);
    else if (json !== null) sources.push({ 0: json });
    if (this.method !== 'GET' && this.method !== 'HEAD') sources.push(this.form);
    sources.push(this.query, this.url);
    if (defaults !== null) sources.push(defaults);
    return sources;
  }

  /** Creates a nested request: a part of a batch, or an embedded link. It shares caller, id and signal. */
  inner(
    init: Pick<HostRequestInit, 'method' | 'route' | 'query'> & Partial<Pick<HostRequestInit, 'headers' | 'form'>>,
  ): HostRequest {
    const { user, id, ip, log, plugin, countWrongKey, requireFreshSignIn } = this.#init;
    // Without `pageUser`: a part of a batch has no origin.
    return new HostRequest({
      headers: {},
      user,
      id,
      ip,
      log,
      plugin,
      signal: this.signal,
      ...(countWrongKey && { countWrongKey }),
      ...(requireFreshSignIn && { requireFreshSignIn }),
      ...init,
    });
  }

  #parsed(): ParsedBody {
    return (this.#body ??= parseBody(this.#init, this.#bytes));
  }
}

function parseBody(init: HostRequestInit, body: Buffer): ParsedBody {
  if (init.json !== undefined || init.form !== undefined)
    return { json: init.json ?? null, form: init.form ?? {}, error: null };
  if (body.length === 0) return { json: null, form: {}, error: null };
  const kind = bodyKind(init);
  if (kind === 'json') return readJson(parseJsonBody(body));
  return kind === 'form' ? readForm(body) : { json: null, form: {}, error: null };
}

function readJson(parsed: ParsedJson): ParsedBody {
  if (parsed.kind === 'value') return { json: parsed.value, form: {}, error: null };
  return { json: null, form: {}, error: jsonError(parsed) };
}

function jsonError(parsed: Exclude<ParsedJson, { kind: 'value' }>): RestError {
  if (parsed.kind === 'malformed') return hostErrors.invalidJson(parsed.error);
  if (parsed.kind === 'too_large') return hostErrors.tooMuchText(jsonBounds.bytes);
  return unreadableParameter(parsed.name, parsed.message);
}

function readForm(body: Buffer): ParsedBody {
  const { params, error } = parseQuery(readBytes(body));
  return { json: null, form: params, error: error === null ? null : unreadableParameter(error.name, error.message) };
}

function hangUpSignal(onHangUp: HostRequestInit['onHangUp']): AbortSignal {
  const controller = new AbortController();
  onHangUp?.(() => controller.abort());
  return controller.signal;
}
