import { isRecord, trimTrailingSlashes } from '#plugin-api';
import type { GoogleGenAI } from '@google/genai';
import { createClientCache } from '../../kit/caches.ts';
import { errorFromResponse, unreadableResponse } from '../provider-errors.ts';
import { type JsonObject } from '../json.ts';
import type { ProviderConnection, ProviderSettings } from '../provider.ts';
import { sdkTimeout } from '../time-limit.ts';

export const googleAddress = 'https://generativelanguage.googleapis.com';

/** The base URL without a version. */
export function googleBaseUrl(settings: ProviderSettings): string {
  return trimTrailingSlashes(settings.base_url || googleAddress).replace(/\/v1beta$/, '');
}

/** The account's client, built once per access. The first call loads the SDK, which does not retry by default. */
export function createGoogleClients(): (connection: ProviderConnection) => Promise<GoogleGenAI> {
  const cache = createClientCache<GoogleGenAI>();
  return ({ settings, fetch }) => {
    const access = { apiKey: settings.api_key ?? '', baseUrl: googleBaseUrl(settings) };
    return cache.get(fetch, [access], async () => {
      const { GoogleGenAI } = await import('@google/genai');
      return new GoogleGenAI({
        apiKey: access.apiKey,
        vertexai: false,
        httpOptions: { baseUrl: access.baseUrl, apiVersion: 'v1beta' },
      });
    });
  };
}

/**
 * A `fetch` for one call of the SDK. The SDK drops the headers of an error (`Retry-After`) and does not distinguish a cut
 * response from invalid JSON. So errors are handled here, and the SDK gets complete success responses only.
 *
 * @param take gets the body instead of the SDK: for members that the SDK drops, and to parse large bodies only once.
 */
export function checkingFetch(
  connection: ProviderConnection,
  take?: (body: JsonObject) => void,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await connection.fetch(input, init);
    const text = await response.text();
    const { status, headers } = response;
    const body = parsed(text);
    if (!response.ok) throw errorFromResponse({ status, headers, body: body ?? text }, connection);
    if (!isRecord(body))
      throw unreadableResponse(
        `${headers.get('content-type')?.split(';')[0] ?? 'no content type'}, not a JSON object`,
        status,
      );
    take?.(body);
    return new Response(take === undefined ? text : '{}', { status, headers });
  };
}

/** Sends requests with the signal of the exchange, which knows its limits of time, instead of the SDK's own. */
export function withSignal(connection: ProviderConnection, signal: AbortSignal): ProviderConnection {
  return { ...connection, fetch: (input, init) => connection.fetch(input, { ...init, signal }) };
}

/** One call of the SDK, whose body is read here: the SDK drops members of it, and would parse large bodies again. */
export function googleCall(given: ProviderConnection, abortSignal: AbortSignal) {
  const connection = withSignal(given, abortSignal);
  let body: JsonObject = {};
  const fetch = checkingFetch(connection, (received) => {
    body = received;
  });
  return { fetch, config: { abortSignal, httpOptions: { timeout: sdkTimeout(connection), fetch } }, body: () => body };
}

/**
 * A `fetch` for one streamed call of the SDK, which would lose the errors of a stream: `take` gets the response, and the
 * SDK an empty one.
 */
export function streamingFetch(
  connection: ProviderConnection,
  take: (response: Response) => void,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await connection.fetch(input, init);
    const { status, headers } = response;
    if (response.ok) {
      take(response);
      return new Response('', { status, headers });
    }
    const text = await response.text();
    throw errorFromResponse({ status, headers, body: parsed(text) ?? text }, connection);
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
