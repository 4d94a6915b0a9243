import {
  invalidFields,
  asRecord,
  isRecord,
  RestError,
  type RestRequest,
  type RestResponse,
  type User,
  withoutUndefined,
} from '#plugin-api';
import { keyHeaders, type KeyRoute } from '../../kit/caller.ts';
import { dryRunPassed, runDry, type DryRun, type Explanation } from '../../kit/dry-run.ts';
import { apiKeyParameter, type KeyedRequest } from '../../kit/require-api-key.ts';
import { serviceNamespace } from '../../kit/route.ts';
import type { BudgetsPort, HostPort, SettingsPort } from '../../ports.ts';
import { amountsOf, messageOf, ruleOf, type Refusal } from './deciding-rule.ts';

/** A key: its id, 0 for the REST key, or its secret. */
export type KeyChoice = { readonly id: number } | { readonly secret: string };

export interface ExplainKeyInit {
  readonly key: KeyChoice;
  readonly route: KeyRoute;
  /** What the request would say. Left out: only what is decided without it, and short texts. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly bot?: number | undefined;
  readonly prompt?: string | undefined;
  /** The JSON of the request instead. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  /** The signed-in user that the request would be made for. Default: a guest. */
  readonly user?: User | undefined;
  /** Slug of the plugin that would send the request. Default: none. */
  readonly plugin?: string | undefined;
}

export type ExplainKey = (init: ExplainKeyInit) => Promise<Explanation>;

/** Dry runs (D31): the request itself, through every check of a real one, up to the call of the provider. */
export interface Explain {
  request(request: RestRequest, route: KeyRoute): Promise<Explanation>;
  readonly key: ExplainKey;
}

export type ExplainPorts = Pick<HostPort, 'host' | 'authenticateCaller'> & BudgetsPort & SettingsPort;

interface SentRequest {
  readonly path: string;
  readonly json: unknown;
  readonly key: KeyChoice;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly user?: User | undefined;
  readonly plugin: string | undefined;
}

export function createExplain(ports: ExplainPorts): Explain {
  const { host, budgets, settings } = ports;

  async function explain(
    init: Pick<DryRun, 'keyId' | 'plugin'>,
    send: () => Promise<Refusal | null>,
  ): Promise<Explanation> {
    const { run, result: refusal } = await runDry(init, send);
    const facts = { run, refusal, budgets: await budgets.list(), isSandbox: await settings.sandbox.isOn() };
    const { caller, calls } = run;
    return {
      dry_run: true,
      allowed: refusal === null,
      rule: ruleOf(facts),
      message: messageOf(facts),
      error: refusal && { code: refusal.code, status: refusal.status, data: refusal.data },
      key: caller ? { id: caller.id, name: caller.name } : null,
      plugin: run.plugin ?? null,
      ...(refusal === null ? amountsOf(calls) : { calls: [], cost_usd: 0 }),
    };
  }

  function explainSent({ path, json, key, query = {}, user, plugin }: SentRequest): Promise<Explanation> {
    const { headers, id: keyId } = presentKey(key);
    return explain({ keyId, plugin }, async () =>
      refusalOf(await host.rest.dispatch(path, { method: 'POST', query, headers, json, ...(user && { user }) })),
    );
  }

  async function findUser(id: string): Promise<User> {
    const user = await host.users.get(Number(id));
    if (user === null)
      throw invalidFields({ dry_run_user: `No user has the ID “${id}”. The page Users shows the IDs.` });
    return user;
  }

  return {
    async request({ route: path, json, form, query: given, headers, plugin: sender, user: asker }, route) {
      const { dry_run: _dryRun, dry_run_key: id, dry_run_plugin: named, dry_run_user: userId, ...rest } = given;
      const { [apiKeyParameter]: inQuery, ...query } = rest;
      const body: Readonly<Record<string, unknown>> = isRecord(json) ? json : form;
      const { [apiKeyParameter]: inBody, ...sent } = body;
      const bearer = /^bearer\s+(\S.*)$/is.exec((headers['authorization'] ?? '').trim())?.[1];
      const header = headers[keyHeaders[route] ?? ''];
      const secret = [bearer, header, inBody, inQuery].find((text) => typeof text === 'string' && text.trim() !== '');
      const key = typeof secret === 'string' ? { secret } : { id: Number(id ?? 0) };
      const plugin = typeof named === 'string' && named !== '' ? named : sender;
      // What a plugin sends is sent for its user; over HTTP the administrator asks about others.
      const user = userId === undefined ? (sender === undefined ? undefined : asker) : await findUser(String(userId));
      return explainSent({ path, query, key, user, plugin, json: isRecord(json) || json === null ? sent : json });
    },
    key({ key, route, user, plugin, ...call }) {
      const target = requestTo(route, call);
      if (target !== null) return explainSent({ ...target, key, user, plugin });
      const { headers, id: keyId } = presentKey(key);
      const request: KeyedRequest = {
        ...{ headers, json: null, form: {}, query: {}, url: {} },
        countWrongKey: async () => {},
      };
      return explain({ keyId, plugin }, async () => {
        try {
          await ports.authenticateCaller(request, route);
          return null;
        } catch (error) {
          if (error instanceof RestError) return error;
          throw error;
        }
      });
    },
  };
}

/** A secret is sent as by a caller; an id is enough within a dry run. */
function presentKey(key: KeyChoice): { readonly headers: Readonly<Record<string, string>>; readonly id?: number } {
  return 'secret' in key ? { headers: { authorization: `Bearer ${key.secret}` } } : { headers: {}, id: key.id };
}

/** Null if the request came as far as the provider. */
function refusalOf({ body, status }: RestResponse): Refusal | null {
  const { code = '', message = '', data } = asRecord(body) as Partial<Refusal>;
  // A response without an error made no call: a filter of a plugin took its place.
  return code === dryRunPassed || status < 400 ? null : { code, message, status, data };
}

type CallInit = Pick<ExplainKeyInit, 'provider' | 'model' | 'bot' | 'prompt' | 'body'>;

/** The request of a route that calls providers; null for others. */
function requestTo(
  route: KeyRoute,
  { provider, model, bot, prompt = 'Hello', body }: CallInit,
): Pick<SentRequest, 'path' | 'json'> | null {
  const messages = [{ role: 'user', content: prompt }];
  const to = (path: string, json: object) => ({ path, json: { ...json, ...body } });
  const named = withoutUndefined({ provider, model });
  if (route === 'generate') return to(`/${serviceNamespace}/generate`, { ...named, messages });
  if (route === 'images') return to(`/${serviceNamespace}/images/generate`, { ...named, prompt });
  if (route === 'embeddings') return to(`/${serviceNamespace}/embeddings`, { ...named, input: prompt });
  if (route === 'chat') return to(`/${serviceNamespace}/chat/${String(bot ?? 0)}/message`, { messages });
  if (route !== 'openai' && route !== 'anthropic') return null;
  const chosen = bot === undefined ? [provider, model].filter(Boolean).join('/') : `bot:${String(bot)}`;
  if (route === 'anthropic') return to('/svc-anthropic/v1/messages', { model: chosen, messages, max_tokens: 1024 });
  return to('/svc-openai/v1/chat/completions', { model: chosen, messages });
}
