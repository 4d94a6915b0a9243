import { hash } from 'node:crypto';
import { identifyCaller, isSameSecret, type Params, type RestRequest } from '#plugin-api';
import { keyHeaders, restKeyCaller, type Caller, type KeyRoute } from './caller.ts';
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

/** What named keys begin with: only such candidates are looked up. */
export const namedKeyPrefix = 'svck_';

/**
 * Finds a named key (D31) by the SHA-256 digests of candidates.
 *
 * @throws RestError 401 for a key that was revoked, has expired, or whose secret was replaced
 */
export type FindNamedKey = (digests: readonly Buffer[]) => Promise<Caller | null>;

const noNamedKeys: FindNamedKey = () => Promise.resolve(null);

export type KeyedRequest = Pick<RestRequest, 'headers' | 'json' | 'form' | 'query' | 'url' | 'countWrongKey'>;

/**
 * Checks the key before the parameters (contract 5, D2, D31): first the header `Authorization: Bearer`, in any case and
 * trimmed, and the header of the route's vendor (`keyHeaders`), then `svc_api_key` of the JSON body, the form and the
 * query. A right key in any of these places is accepted, whatever is in the others (D49). It compares digests in
 * constant time. Candidates that begin with `svck_` may be named keys.
 *
 * The parameter is always deleted from every source, so that handlers and log lines never contain it.
 *
 * @throws RestError 401 `rest_svc_invalid_api_key`, the same error for every cause, or of a named key that no longer works;
 * 429 after too many wrong keys
 */
export function requireApiKey(
  reader: ApiKeyReader,
  findNamed: FindNamedKey = noNamedKeys,
): (request: KeyedRequest, route?: KeyRoute) => Promise<Caller> {
  return async (request, route) => {
    const candidates = [...headerCandidates(request.headers, route), ...parameterCandidates(request)];
    const caller = await findCaller(reader, findNamed, candidates);
    if (caller !== null) {
      identifyCaller({ door: 'key', key: caller.name });
      return caller;
    }
    if (candidates.length > 0) {
      await reader.reportRefusal?.();
      await request.countWrongKey();
    }
    throw errors.invalid_api_key();
  };
}

/**
 * Whether the header or the query holds a key, for the time before the body is read. It leaves the parameter for
 * `requireApiKey`. The body may hold the key too, so undefined decides nothing.
 */
export function findApiKey(
  reader: ApiKeyReader,
  findNamed: FindNamedKey = noNamedKeys,
): (request: Pick<KeyedRequest, 'headers' | 'query'>, route?: KeyRoute) => Promise<true | undefined> {
  return async ({ headers, query }, route) => {
    const unread = { json: null, form: {}, url: {}, query: { ...query } };
    const candidates = [...headerCandidates(headers, route), ...parameterCandidates(unread)];
    return (await findCaller(reader, findNamed, candidates)) === null ? undefined : true;
  };
}

/** A text that may be a key. */
interface Candidate {
  readonly digest: Buffer;
  readonly mayBeNamed: boolean;
}

async function findCaller(
  reader: ApiKeyReader,
  findNamed: FindNamedKey,
  candidates: readonly Candidate[],
): Promise<Caller | null> {
  const stored = await reader.digest();
  if (stored !== null && candidates.some(({ digest }) => isSameSecret(digest, stored))) return restKeyCaller;
  const named = candidates.filter(({ mayBeNamed }) => mayBeNamed);
  return named.length === 0 ? null : findNamed(named.map(({ digest }) => digest));
}

/** Digest of a key for comparison: of its UTF-8 bytes, without white space at its ends. */
export function apiKeyDigest(key: string): Buffer {
  return sha256(key.trim());
}

/**
 * Node reads header bytes as Latin-1. Clients may send a key beyond ASCII as UTF-8 bytes (curl does) or as Latin-1, so both
 * are tried.
 */
function headerCandidates(headers: KeyedRequest['headers'], route: KeyRoute | undefined): Candidate[] {
  const bearer = /^bearer\s(.*)$/is.exec((headers['authorization'] ?? '').trimStart())?.[1];
  const own = route === undefined ? undefined : keyHeaders[route];
  return [bearer, own === undefined ? undefined : headers[own]].flatMap(tokenCandidates);
}

function tokenCandidates(given: string | undefined): Candidate[] {
  const token = given?.trim();
  if (!token) return [];
  if (isAscii(token)) return [candidate(token)];
  return [candidate(token), { digest: sha256(Buffer.from(token, 'latin1')), mayBeNamed: false }];
}

function parameterCandidates(request: Pick<KeyedRequest, 'json' | 'form' | 'query' | 'url'>): Candidate[] {
  const found = [request.json, request.form, request.query, request.url].map(takeParameter);
  return found.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [candidate(value.trim())] : []));
}

function candidate(text: string): Candidate {
  return { digest: apiKeyDigest(text), mayBeNamed: text.startsWith(namedKeyPrefix) };
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
