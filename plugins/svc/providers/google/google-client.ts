import type { GoogleGenAI } from '@google/genai';
import { createClientCache } from '../../kit/client-cache.ts';
import { errorFromResponse, unreadableResponse } from '../provider-errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { ProviderConnection, ProviderSettings } from '../provider.ts';

export const googleAddress = 'https://generativelanguage.googleapis.com';

/** The address without a version, however it was copied. */
export function googleBaseUrl(settings: ProviderSettings): string {
  return (settings.base_url || googleAddress).replace(/\/+$/, '').replace(/\/v1beta$/, '');
}

/** The account's client, built once per access. The SDK is loaded by the first call; of its own it tries once. */
export function createGoogleClients(): (connection: ProviderConnection) => Promise<GoogleGenAI> {
  const cache = createClientCache<GoogleGenAI>();
  return ({ settings, fetch }) => {
    const access = { apiKey: settings.api_key ?? '', baseUrl: googleBaseUrl(settings) };
    return cache.get(fetch, [access], async () => {
      const { GoogleGenAI } = await import('@google/genai');
      return new GoogleGenAI({ apiKey: access.apiKey, vertexai: false, httpOptions: { baseUrl: access.baseUrl } });
    });
  };
}

/**
 * A `fetch` for one call of the SDK. The SDK keeps neither the headers of an error (`Retry-After`) nor apart what was cut
 * and what was no JSON, so both are decided here, before it looks: it is handed whole answers of success alone.
 *
 * @param take is handed the body, and the SDK an empty one: for what the SDK would leave out, and large bodies are read once.
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
    if (!isObject(body))
      throw unreadableResponse(
        `${headers.get('content-type')?.split(';')[0] ?? 'no content type'}, not a JSON object`,
        status,
      );
    take?.(body);
    return new Response(take === undefined ? text : '{}', { status, headers });
  };
}

/**
 * A `fetch` for one streamed call of the SDK, which would lose the errors of a stream: the answer is handed to `take` to be
 * read, and the SDK is given an empty one.
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
