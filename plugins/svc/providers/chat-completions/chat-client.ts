import type { ClientOptions, OpenAI } from 'openai';
import type { AzureClientOptions } from 'openai/azure';
import { createClientCache } from '../../kit/caches.ts';
import { isJson } from '../json.ts';
import type { ProviderConnection, ProviderSettings } from '../provider.ts';

/** The connection data of an account, from which the SDK's client is built. */
export interface ChatAccess {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly organization?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Azure's classic API: URLs contain the deployment and a version. */
  readonly classicAzure?: { readonly deployment: string | null; readonly apiVersion: string };
}

/** Returns the access for one call. `model` is null when models are listed. */
export type ChatAccessOf = (settings: ProviderSettings, model: string | null) => ChatAccess;

/** The account's client, built once per access. The `openai` package is loaded by the first call. */
export function createChatClients(): (access: ChatAccess, connection: ProviderConnection) => Promise<OpenAI> {
  const cache = createClientCache<OpenAI>();
  return (access, { fetch }) => cache.get(fetch, [access], () => buildClient(access, fetch));
}

async function buildClient(access: ChatAccess, fetch: typeof globalThis.fetch): Promise<OpenAI> {
  const sdk = await import('openai');
  const options: ClientOptions = {
    apiKey: access.apiKey,
    // Set so that the SDK ignores the environment.
    adminAPIKey: null,
    organization: access.organization ?? null,
    project: null,
    webhookSecret: null,
    defaultHeaders: access.headers ?? {},
    fetch: async (input, init) => withErrorMember(await fetch(input, init)),
    maxRetries: 0,
    logLevel: 'off',
  };
  const { classicAzure, baseURL } = access;
  return classicAzure === undefined
    ? new sdk.OpenAI({ ...options, baseURL })
    : new sdk.AzureOpenAI(azureOptions(options, access));
}

/** The SDK's errors have the member `error` of a body alone, but several servers put their message elsewhere: all of it goes there. */
async function withErrorMember(response: Response): Promise<Response> {
  if (response.ok || response.status === 304) return response;
  const text = await response.text();
  return new Response(isJson(text) ? `{"error":${text}}` : text, response);
}

function azureOptions(options: ClientOptions, { apiKey, baseURL, classicAzure }: ChatAccess): AzureClientOptions {
  const deployment = classicAzure?.deployment ?? null;
  return {
    ...(options as AzureClientOptions),
    apiKey,
    baseURL,
    ...(classicAzure && { apiVersion: classicAzure.apiVersion }),
    ...(deployment !== null && { deployment: encodeURIComponent(deployment) }),
  };
}
