import { RestError } from '#plugin-api';
import type { Headers, Logger, Params, RestRequest, User } from '#plugin-api';
import { hostErrors, unreadableParameter } from './errors.ts';
import { parseJsonBody } from './json-body.ts';
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
  /** Raw body; null when it was larger than the route allows and was not read. */
  readonly body?: Buffer | null;
  /** In place of a body: its parsed JSON or form. The request takes the objects over and changes them. */
  readonly json?: unknown;
  readonly form?: Params;
  /** Calls back when the caller hangs up; at once when that has happened. */
  readonly onHangUp?: (listener: () => void) => void;
  readonly signal?: AbortSignal;
  /** See RestRequest; left out: `user`. */
  readonly pageUser?: () => Promise<User> | User;
}

const jsonType = /^application\/(?:[\w!#$&\-^.+]+\+)?json(?:\+oembed)?(?:$|[;\s])/i;
const formType = /^application\/x-www-form-urlencoded(?:$|[;\s])/i;
const emptyBody = Buffer.alloc(0);

/**
 * A request as handlers see it. The body is parsed when it is first looked at, so that a caller without a key costs no
 * parsing (D2); signal and logger are made on first use too.
 */
export class HostRequest implements RestRequest {
  readonly method: RestRequest['method'];
  readonly route: string;
  readonly query: Params;
  readonly headers: Headers;
  readonly user: User;
  readonly id: string;
  readonly ip: string;
  params: Params = {};
  url: Params = {};
  /** Where it leads; null until matched, or when no route fits. */
  match: Match | null = null;
  /** What the endpoint's permission answered; undefined until asked. */
  permitted: boolean | undefined = undefined;
  /** Whether `authenticate` refused: then the caller is not told which methods there are. */
  isUnauthenticated = false;
  readonly #init: HostRequestInit;
  #body: { readonly json: unknown; readonly form: Params; readonly fault: RestError | null } | undefined;
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
    this.#signal = init.signal;
  }

  get json(): unknown {
    return (this.#body ??= readBody(this.#init)).json;
  }

  get form(): Params {
    return (this.#body ??= readBody(this.#init)).form;
  }

  get body(): Uint8Array {
    return this.#init.body ?? emptyBody;
  }

  pageUser(): Promise<User> {
    const { pageUser } = this.#init;
    return (this.#pageUser ??= Promise.resolve(this.user.id > 0 || pageUser === undefined ? this.user : pageUser()));
  }

  get signal(): AbortSignal {
    return (this.#signal ??= hangUpSignal(this.#init.onHangUp));
  }

  get log(): Logger {
    return (this.#log ??= this.#init.log.child({ request_id: this.id }));
  }

  /** Whether the caller is known to be gone. */
  get isHungUp(): boolean {
    return this.#signal?.aborted === true;
  }

  get isTooLarge(): boolean {
    return this.#init.body === null;
  }

  /** Why the body or the query cannot be read, or null. */
  unreadable(): RestError | null {
    const { fault } = (this.#body ??= readBody(this.#init));
    if (fault !== null) return fault;
    const queryFault = this.#init.query.fault;
    return queryFault === null ? null : unreadableParameter(queryFault.name, queryFault.message);
  }

  /** Where parameters are looked for, first one first. A JSON list counts by its indices, a lone value as parameter 0. */
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

  /** A request that this one causes: a part of a batch, or an embedded link. It shares caller, id and hang-up. */
  inner(
    init: Pick<HostRequestInit, 'method' | 'route' | 'query'> & Partial<Pick<HostRequestInit, 'headers' | 'form'>>,
  ): HostRequest {
    const { user, id, ip, log } = this.#init;
    // Without `pageUser`: where a part of a batch comes from is not said.
    return new HostRequest({ headers: {}, user, id, ip, log, signal: this.signal, ...init });
  }
}

function readBody(init: HostRequestInit): { json: unknown; form: Params; fault: RestError | null } {
  if (init.json !== undefined || init.form !== undefined)
    return { json: init.json ?? null, form: init.form ?? {}, fault: null };
  const body = init.body ?? emptyBody;
  if (body.length === 0) return { json: null, form: {}, fault: null };
  const contentType = init.headers['content-type'] ?? '';
  if (jsonType.test(contentType)) return readJson(body);
  const isForm = formType.test(contentType) || (contentType === '' && init.method !== 'POST');
  return isForm ? readForm(body) : { json: null, form: {}, fault: null };
}

function readJson(body: Buffer): { json: unknown; form: Params; fault: RestError | null } {
  const parsed = parseJsonBody(body);
  if (parsed.kind === 'value') return { json: parsed.value, form: {}, fault: null };
  const fault =
    parsed.kind === 'malformed'
      ? hostErrors.invalidJson(parsed.fault)
      : unreadableParameter(parsed.name, parsed.message);
  return { json: null, form: {}, fault };
}

function readForm(body: Buffer): { json: unknown; form: Params; fault: RestError | null } {
  const { params, fault } = parseQuery(body.toString());
  return { json: null, form: params, fault: fault === null ? null : unreadableParameter(fault.name, fault.message) };
}

function hangUpSignal(onHangUp: HostRequestInit['onHangUp']): AbortSignal {
  const controller = new AbortController();
  onHangUp?.(() => controller.abort());
  return controller.signal;
}
