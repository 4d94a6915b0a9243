import type { JsonSchema } from '#plugin-api';
import { errors } from './errors.ts';
import { matchesName } from './matches-name.ts';

/** What a named key may be limited to: the doors of the service. */
export const keyRoutes = [
  'generate',
  'images',
  'embeddings',
  'vector-stores',
  'chat',
  'logs',
  'events',
  'openai',
  'anthropic',
  'abilities',
  'mcp',
] as const;

export type KeyRoute = (typeof keyRoutes)[number];

/** Headers that hold the key too, beside `Authorization`, on routes in the formats of vendors that use them. */
export const keyHeaders: Readonly<Partial<Record<KeyRoute, string>>> = { anthropic: 'x-api-key' };

/** What a named key may do (D31). */
export interface KeyScopes {
  readonly routes: readonly KeyRoute[];
  /** Ids of providers; empty: all. */
  readonly providers: readonly string[];
  /** Names of models, `*` matches any characters; empty: all, or those of `chatbots` alone where these are named. */
  readonly models: readonly string[];
  /** Ids of chatbots; empty: all. */
  readonly chatbots: readonly number[];
  /**
   * Names of abilities: destructive ones that the key may run, and read-only ones that it may run for its creator. `*` matches
   * any characters of read-only ones. Unlike the other lists, an empty one allows none (D34).
   */
  readonly abilities: readonly string[];
}

const list = (items: JsonSchema, title: string) => ({ type: 'array', title, items, maxItems: 200 }) as const;

export const keyScopesSchema = {
  routes: list({ type: 'string', enum: keyRoutes }, 'Routes'),
  providers: list({ type: 'string', pattern: '^[a-z0-9_-]{1,60}$' }, 'Providers'),
  models: list({ type: 'string', minLength: 1, maxLength: 200 }, 'Models'),
  chatbots: list({ type: 'integer', minimum: 1 }, 'Chatbots'),
  abilities: list({ type: 'string', pattern: '^([a-z0-9*-]+/[a-z0-9*-]+|\\*)$', maxLength: 200 }, 'Abilities'),
} as const;

/** The key that a request was made with. */
export interface Caller {
  readonly kind: 'rest-key' | 'named-key';
  /** 0 for the REST key. */
  readonly id: number;
  readonly name: string;
  /** Null: everything but destructive abilities, as for the REST key. */
  readonly scopes: KeyScopes | null;
  /** Whether the routes in the formats of vendors leave out what a model lacks, instead of refusing it (D41). Left out: no. */
  readonly isLenient?: boolean;
}

/** The single REST key of the site (contract 5). */
export const restKeyCaller: Caller = { kind: 'rest-key', id: 0, name: 'REST key', scopes: null };

const callers = new WeakMap<object, Caller>();

/** Remembers the caller of a request, for its handler. */
export function setCaller(request: object, caller: Caller): void {
  callers.set(request, caller);
}

/** The key that a request was authenticated with; undefined for a route without a key. */
export function callerOf(request: object): Caller | undefined {
  return callers.get(request);
}

/** Whether the key of a request leaves out what a model lacks (D41). */
export function isLenient(request: object): boolean {
  return callerOf(request)?.isLenient === true;
}

/** What a call needs of its caller; members that are left out are not checked. */
export interface NeededScopes {
  readonly route?: KeyRoute | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /**
   * A list of chatbots also limits a call that names none: pass null. With a provider and without a chatbot, the call reaches a
   * model directly: a key for some chatbots then needs the model among its models.
   */
  readonly chatbot?: number | null | undefined;
  /** Name of a destructive ability. */
  readonly ability?: string | undefined;
}

/**
 * Checks that a key allows a call (D31, D34). Without a caller nothing is checked: the call is the site's own.
 *
 * @throws RestError 403 `rest_svc_key_out_of_scope`; `data.scope` names the list and `data.needs` the missing value
 */
export function requireScopes(caller: Caller | undefined, needed: NeededScopes): void {
  if (caller === undefined) return;
  const lacking = lackingScope(caller, needed);
  if (lacking === null) return;
  throw errors.key_out_of_scope({
    values: { key: caller.name, what: lacking.what, scope: lacking.scope },
    data: { scope: lacking.scope, needs: lacking.needs },
  });
}

/** Whether a key allows a call, for lists of what it may call. Without a caller everything is allowed. */
export function isInScope(caller: Caller | undefined, needed: NeededScopes): boolean {
  return caller === undefined || lackingScope(caller, needed) === null;
}

/** Whether the providers of a key allow one, whatever else limits the key. */
export function mayUseProvider(caller: Caller | undefined, provider: string): boolean {
  const providers = caller?.scopes?.providers ?? [];
  return providers.length === 0 || providers.includes(provider);
}

/** Whether a key is limited to some models, providers or chatbots. */
export function isLimited({ scopes }: Caller): boolean {
  if (scopes === null) return false;
  const { models, providers, chatbots } = scopes;
  return providers.length > 0 || (models.length > 0 ? !models.includes('*') : chatbots.length > 0);
}

interface LackingScope {
  readonly scope: keyof KeyScopes;
  readonly needs: string;
  /** For the sentence. */
  readonly what: string;
}

function lackingScope(caller: Caller, needed: NeededScopes): LackingScope | null {
  const { scopes } = caller;
  const { route, provider, model, chatbot, ability } = needed;
  if (ability !== undefined && scopes?.abilities.includes(ability) !== true)
    return { scope: 'abilities', needs: ability, what: `the destructive ability ${ability}` };
  if (scopes === null) return null;
  if (route !== undefined && !scopes.routes.includes(route))
    return { scope: 'routes', needs: route, what: `the route ${route}` };
  if (provider !== undefined && !mayUseProvider(caller, provider))
    return { scope: 'providers', needs: provider, what: `the provider ${provider}` };
  const lacksModel: LackingScope =
    model === undefined
      ? { scope: 'models', needs: '*', what: 'models' }
      : { scope: 'models', needs: model, what: `the model ${model}` };
  if (model !== undefined && scopes.models.length > 0 && !scopes.models.some((pattern) => matchesName(pattern, model)))
    return lacksModel;
  const isChatbotless = provider !== undefined && chatbot === undefined;
  if (isChatbotless && scopes.chatbots.length > 0 && scopes.models.length === 0) return lacksModel;
  if (chatbot === undefined || scopes.chatbots.length === 0) return null;
  if (chatbot !== null && scopes.chatbots.includes(chatbot)) return null;
  const needs = chatbot === null ? 'bot_id' : String(chatbot);
  return { scope: 'chatbots', needs, what: chatbot === null ? 'a call for all chatbots' : `chatbot ${needs}` };
}
