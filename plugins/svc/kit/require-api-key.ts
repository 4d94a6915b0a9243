import { hash, timingSafeEqual } from 'node:crypto';
import type { Params, RestRequest } from '#plugin-api';
import { errors } from './errors.ts';

/** Name of the parameter that may contain the key (contract 5.4). */
export const apiKeyParameter = 'svc_api_key';

/** Reads the stored key. */
export interface ApiKeyReader {
  /** SHA-256 of the stored key, or null when it is empty or cannot be decrypted: then REST access is disabled. */
  digest(): Promise<Buffer | null>;
  /** Called after a request with a key was refused. Logs the reason if it is that the stored key cannot be decrypted. */
  reportRefusal?(): Promise<void>;
}

export type KeyedRequest = Pick<RestRequest, 'headers' | 'json' | 'form' | 'query' | 'url' | 'countWrongKey'>;

/**
 * Checks the REST API key before the parameters (contract 5, D2): first the header `Authorization: Bearer`, in any case and
 * trimmed; if it does not match, `svc_api_key` of the JSON body, otherwise of the form, otherwise of the query. It compares
 * digests in constant time.
 *
 * The parameter is always deleted from every source, so that handlers and log lines never contain it.
 *
 * @throws RestError 401 `rest_svc_invalid_api_key`, the same error for every cause; 429 after too many wrong keys
 */
export function requireApiKey(reader: ApiKeyReader): (request: KeyedRequest) => Promise<void> {
  return async (request) => {
    const candidates = [...bearerDigests(request.headers['authorization']), ...parameterDigests(request)];
    if (await matches(reader, candidates)) return;
    if (candidates.length > 0) {
      await reader.reportRefusal?.();
      await request.countWrongKey();
    }
    throw errors.invalid_api_key();
  };
}

/**
 * Whether the header or the query holds the key, for the time before the body is read. It leaves the parameter for
 * `requireApiKey`. The body may hold the key too, so undefined decides nothing.
 */
export function findApiKey(
  reader: ApiKeyReader,
): (request: Pick<KeyedRequest, 'headers' | 'query'>) => Promise<true | undefined> {
  return async ({ headers, query }) => {
    const unread = { json: null, form: {}, url: {}, query: { ...query } };
    const candidates = [...bearerDigests(headers['authorization']), ...parameterDigests(unread)];
    return (await matches(reader, candidates)) ? true : undefined;
  };
}

async function matches(reader: ApiKeyReader, candidates: readonly Buffer[]): Promise<boolean> {
  const stored = await reader.digest();
  return stored !== null && candidates.some((candidate) => timingSafeEqual(candidate, stored));
}

/** Digest of a key for comparison: of its UTF-8 bytes, without white space at its ends. */
export function apiKeyDigest(key: string): Buffer {
  return sha256(key.trim());
}

/**
 * Node reads header bytes as Latin-1. Clients may send a key beyond ASCII as UTF-8 bytes (curl does) or as Latin-1, so both
 * are tried.
 */
function bearerDigests(header: string | undefined): Buffer[] {
  const token = /^bearer\s(.*)$/is.exec((header ?? '').trimStart())?.[1]?.trim();
  if (!token) return [];
  return isAscii(token) ? [sha256(token)] : [sha256(token), sha256(Buffer.from(token, 'latin1'))];
}

function parameterDigests(request: Pick<KeyedRequest, 'json' | 'form' | 'query' | 'url'>): Buffer[] {
  const sources = [request.json, request.form, request.query, request.url];
  const found = sources.map(takeParameter).find((value) => value !== undefined);
  return typeof found === 'string' && found.trim() !== '' ? [apiKeyDigest(found)] : [];
}

function takeParameter(source: unknown): unknown {
  if (typeof source !== 'object' || source === null || !Object.hasOwn(source, apiKeyParameter)) return undefined;
  const value = (source as Params)[apiKeyParameter];
  Reflect.deleteProperty(source, apiKeyParameter);
  return value;
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function sha256(bytes: string | Buffer): Buffer {
  return hash('sha256', bytes, 'buffer');
}
