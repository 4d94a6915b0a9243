import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * How an act reached the site: a page of the admin, REST with a session, a command, the MCP server, an application password, a
 * key of a plugin, a public page, or a job.
 */
export type Door = 'admin' | 'rest' | 'cli' | 'mcp' | 'application password' | 'key' | 'site' | 'job';

/** Who acts, from where and how, for everything that runs for one request. The host sets it; code that signs a caller in adds to it. */
export interface RequestContext {
  /** Id of the user; 0: a visitor, a command or a job. */
  userId: number;
  /** Address of the caller; empty without one. */
  readonly ip: string;
  /** The `X-Request-Id` of the request; empty without one. */
  readonly requestId: string;
  door: Door;
  /** Name of the key that the caller sent; empty without one. */
  key: string;
  /** Name of the ability that runs; empty outside of one. */
  readonly ability: string;
  /** Scripts of the page that is rendered need this value as `nonce`; empty where scripts of the site need none. */
  scriptNonce: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** The context of the request, command or job that runs; undefined at the start of the host. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore();
}

/** Runs `work` in another context. */
export function inRequest<Result>(
  context: Pick<RequestContext, 'door'> & Partial<RequestContext>,
  work: () => Result,
): Result {
  return storage.run({ userId: 0, ip: '', requestId: '', key: '', ability: '', scriptNonce: '', ...context }, work);
}

/** Notes who the caller of the current request is. */
export function identifyCaller(caller: Partial<Pick<RequestContext, 'userId' | 'door' | 'key'>>): void {
  const context = storage.getStore();
  if (context) Object.assign(context, caller);
}

/**
 * Whether a program acts for its user: with an application password or a key, or by an ability, whose input a model may have
 * written. It may do less than its user.
 */
export function isProgram(): boolean {
  const { door = 'job', ability = '' } = storage.getStore() ?? {};
  return ability !== '' || door === 'application password' || door === 'key' || door === 'mcp';
}

/**
 * The attribute ` nonce="..."` that scripts of a public page need: its content security policy lets no other script run, so
 * that the HTML of a post cannot load one. Templates have it on their scripts already. Empty where scripts need none.
 */
export function scriptNonceAttribute(): string {
  const nonce = storage.getStore()?.scriptNonce ?? '';
  return nonce === '' ? '' : ` nonce="${nonce}"`;
}

/** Lets the scripts of trusted HTML run, such as that of a plugin. Never pass what a user wrote. */
export function allowScripts(html: string): string {
  const attribute = scriptNonceAttribute();
  const allow = (tag: string): string => (/\snonce=/i.test(tag) ? tag : tag.replace(/^<script/i, `$&${attribute}`));
  return attribute === '' ? html : html.replace(/<script(?=[\s>])[^>]*/gi, allow);
}
