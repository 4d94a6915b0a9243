import { createHash, timingSafeEqual } from 'node:crypto';
import type { Params, RestRequest } from '#plugin-api';
import { errors } from './errors.ts';

/** Name of the parameter a caller may send the key in (contract 5.4). */
export const apiKeyParameter = 'svc_api_key';

/** The side that knows the stored key. */
export interface ApiKeyReader {
  /** SHA-256 of the stored key, or null when it is empty or cannot be read: REST access is then disabled. */
  digest(): Promise<Buffer | null>;
}

export type KeyedRequest = Pick<RestRequest, 'headers' | 'json' | 'form' | 'query' | 'url'>;

/**
 * Checks the REST API key before parameters are looked at (contract 5, D2): header `Authorization: Bearer` first, its
 * scheme in any case and its token trimmed; if that does not match, `svc_api_key` of the JSON body, else of the form,
 * else of the query. Digests are compared, in constant time.
 *
 * The parameter is deleted from every source whatever the outcome, so that neither handlers nor log lines see it.
 *
 * @throws RestError 401 `rest_svc_invalid_api_key`, one and the same for every cause.
 */
export function requireApiKey(reader: ApiKeyReader): (request: KeyedRequest) => Promise<void> {
  return async (request) => {
    const candidates = [...bearerDigests(request.headers['authorization']), ...parameterDigests(request)];
    const stored = await reader.digest();
    if (stored !== null && candidates.some((candidate) => timingSafeEqual(candidate, stored))) return;
    throw errors.invalid_api_key();
  };
}

/** Digest of a key as it is stored and compared: of its UTF-8 bytes, white space at its ends aside. */
export function apiKeyDigest(key: string): Buffer {
  return sha256(key.trim());
}

/**
 * Header bytes reach us as Latin-1. A key beyond ASCII may have been sent as UTF-8 bytes (curl does) or as the
 * characters themselves, so both readings are tried.
 */
function bearerDigests(header: string | undefined): Buffer[] {
  const token = /^\s*bearer\s+(.*)$/is.exec(header ?? '')?.[1]?.trim();
  if (!token) return [];
  return isAscii(token) ? [sha256(token)] : [sha256(token), sha256(Buffer.from(token, 'latin1'))];
}

function parameterDigests(request: KeyedRequest): Buffer[] {
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
  return createHash('sha256').update(bytes).digest();
}
