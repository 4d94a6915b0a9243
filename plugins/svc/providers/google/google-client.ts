import { trimTrailingSlashes } from '#plugin-api';
import type { GoogleGenAI } from '@google/genai';
import { createClientCache } from '../../kit/caches.ts';
import { errorFromResponse, errorFromThrown, unreadableResponse } from '../provider-errors.ts';
import { objectAt, textAt, type JsonObject } from '../json.ts';
import { ProviderError, type ProviderConnection, type ProviderSettings } from '../provider.ts';
import { jsonObject } from '../time-limit.ts';
import { googleAddress } from './google-models.ts';

/** The base URL without a version. */
export function googleBaseUrl(settings: ProviderSettings): string {
  return trimTrailingSlashes(settings.base_url || googleAddress).replace(/\/v1beta$/, '');
}

const clients = createClientCache<GoogleGenAI>();

/** The account's client, built once per access. The first call loads the SDK, which does not retry by default. */
function getClient({ settings, fetch }: ProviderConnection): Promise<GoogleGenAI> {
  const access = { apiKey: settings.api_key ?? '', baseUrl: googleBaseUrl(settings) };
  return clients.get(fetch, [access], async () => {
    const { GoogleGenAI } = await import('@google/genai');
    return new GoogleGenAI({
      apiKey: access.apiKey,
      vertexai: false,
      httpOptions: { baseUrl: access.baseUrl, apiVersion: 'v1beta' },
    });
  });
}

/** Options of one call of the SDK. Without its `timeout`, whose timer would stay after the call: the signal has the limits. */
export interface CallOptions {
  readonly abortSignal: AbortSignal;
  /** One call is one request, which is billed once (D46). */
  readonly automaticContinuation: false;
  readonly httpOptions: { readonly fetch: typeof globalThis.fetch };
}

/**
 * One call of the SDK.
 *
 * @returns its result, and the response that it was read from: a stream may be read from that instead
 * @throws ProviderError
 */
export async function callGoogle<Result>(
  connection: ProviderConnection,
  abortSignal: AbortSignal,
  call: (client: GoogleGenAI, options: CallOptions) => Promise<Result>,
): Promise<{ readonly result: Result; readonly response: Response }> {
  const client = await getClient(connection);
  let response: Response | undefined;
  const fetch: typeof globalThis.fetch = async (input, init) => (response = await connection.fetch(input, init));
  let result: Result;
  try {
    result = await call(client, { abortSignal, automaticContinuation: false, httpOptions: { fetch } });
  } catch (thrown) {
    throw response === undefined ? thrown : failureOf(thrown, response, connection);
  }
  if (response === undefined) throw unreadableResponse('it was empty');
  return { result, response };
}

/** The ProviderError of what the SDK throws after a response. */
function failureOf(thrown: unknown, response: Response, connection: ProviderConnection): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { ok, status, headers } = response;
  // The SDK's errors have the body as their message, and no headers (`Retry-After`).
  const said = ok ? undefined : parsed(thrown.message);
  if (said !== undefined) return errorFromResponse({ status, headers, body: bodyOf(said, headers) }, connection);
  const known = thrown instanceof SyntaxError ? thrown : errorFromThrown(thrown, connection);
  if (known instanceof ProviderError) return known;
  if (!ok) return errorFromResponse({ status, headers, body: '' }, connection);
  return unreadableResponse(
    `${headers.get('content-type')?.split(';')[0] ?? 'no content type'}, not a JSON object`,
    status,
    thrown,
  );
}

/** The SDK puts a body that is not called JSON into an error in Google's form. */
function bodyOf(said: unknown, headers: Headers): unknown {
  if (headers.get('content-type')?.includes('application/json')) return said;
  const text = textAt(objectAt(said, 'error'), 'message') ?? '';
  return parsed(text) ?? text;
}

export interface Prediction {
  readonly model: string;
  readonly method: 'predict' | 'predictLongRunning';
  readonly body: object;
  readonly signal: AbortSignal;
}

/**
 * Runs a method of Imagen or Veo, which the SDK offers for Vertex AI alone.
 *
 * @returns the JSON object of the response
 * @throws ProviderError
 */
export async function predictGoogle(
  { model, method, body, signal }: Prediction,
  connection: ProviderConnection,
): Promise<JsonObject> {
  const name = encodeURIComponent(model.replace(/^models\//, ''));
  const response = await connection.fetch(`${googleBaseUrl(connection.settings)}/v1beta/models/${name}:${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': connection.settings.api_key ?? '' },
    body: JSON.stringify(body),
    signal,
  });
  const text = await response.text();
  const { ok, status, headers } = response;
  if (ok) return jsonObject(text, response);
  throw errorFromResponse({ status, headers, body: parsed(text) ?? text }, connection);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
