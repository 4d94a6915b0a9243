import { unreadableResponse } from './provider-errors.ts';
import { isObject, type JsonObject } from './json.ts';

/** The JSON object of a response. Throws ProviderError `unreadable` for anything else, and the stream's error if the connection is cut. */
export async function readJson(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw unreadableResponse(text === '' ? 'it was empty' : `${type}, not JSON`, response.status);
  }
  if (!isObject(body)) throw unreadableResponse('JSON, but not an object', response.status);
  return body;
}
