import { unreadableResponse } from './provider-errors.ts';
import { isObject, type JsonObject } from './json.ts';

/** The JSON object of an answer. Throws ProviderError `unreadable` for anything else; a cut connection throws what the stream does. */
export async function readJson(response: Response): Promise<JsonObject> {
  const text = await response.text();
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'no content type';
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw unreadableResponse(text === '' ? 'it was empty' : `${type}, not JSON`, response.status);
  }
  if (!isObject(body)) throw unreadableResponse('JSON, but no object', response.status);
  return body;
}
