import { checkValue, errorText, invalidFields, isUrl, withoutUndefined } from '#plugin-api';
import type { Catalogue } from './catalogue.ts';
import { readContentFilter } from './content-filter.ts';
import { endpointSchema, type EndpointInput } from './endpoint.ts';
import type { SecretReader } from '../settings/secret-reader.ts';
import { secretError } from './signing-secret.ts';
import { originOf, secretContexts, type StoredEndpoint } from './settings-store.ts';

/** Most characters of a header's name and of its value (D54), and most headers. */
const limits = { headerName: 100, headerValue: 2_000, headers: 50 } as const;

const reservedHeaders =
  /^(x-svc-.*|webhook-(id|timestamp|signature)|content-length|content-type|host|connection|transfer-encoding)$/i;

export interface ApplyParts {
  readonly catalogue: Catalogue;
  /** '' stays ''. */
  readonly encrypt: (text: string, context: string) => string;
  readonly read: SecretReader;
}

/** Whether the saved secrets of an endpoint do not apply to another URL: they were entered for another origin (D35). */
export function leavesOrigin(before: Pick<StoredEndpoint, 'url'>, url: string): boolean {
  const origin = originOf(before.url);
  return origin !== '' && origin !== originOf(url);
}

/**
 * Returns the endpoint with the given members changed, without secrets that were entered for another origin.
 *
 * @throws RestError 400 with `data.params`.
 */
export function applyInput(
  before: StoredEndpoint,
  input: EndpointInput,
  { catalogue, ...parts }: ApplyParts,
): StoredEndpoint {
  const errors: Record<string, string> = {};
  const { secret, headers, events, id: _id, ...plain } = input;
  const given = withoutUndefined(plain);
  const changed: StoredEndpoint = {
    ...before,
    ...given,
    ...(input.name !== undefined && { name: String(input.name).trim() }),
    ...(input.url !== undefined && { url: String(input.url).trim() }),
    ...(events !== undefined && { events: readEvents(events, catalogue, errors) }),
  };
  const saved = keepSecrets(before, changed, parts);
  const after: StoredEndpoint = {
    ...changed,
    secret: secret === undefined ? saved.secret : parts.encrypt(secret.trim(), secretContexts.endpoint(changed)),
    headers: readHeaders(saved.headers, headers ?? {}, {
      encrypt: (name, value) => parts.encrypt(value, secretContexts.header(changed, name)),
      errors,
    }),
  };
  Object.assign(errors, checkValue(endpointSchema, after).errors);
  const wrongSecret = secretError(secret?.trim() ?? '');
  if (wrongSecret !== null) errors['secret'] = wrongSecret;
  if (after.name === '') errors['name'] = 'Enter a name for the endpoint.';
  const filter = filterError(after.filter);
  if (filter !== null) errors['filter'] ??= filter;
  const url = urlError(after.url);
  if (url !== null) errors['url'] = url;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return after;
}

/** The saved secrets, bound to the URL that the endpoint has now. They are kept for the same origin, and for its first URL. */
function keepSecrets(
  before: StoredEndpoint,
  after: StoredEndpoint,
  { encrypt, read }: Pick<ApplyParts, 'encrypt' | 'read'>,
): Pick<StoredEndpoint, 'secret' | 'headers'> {
  if (leavesOrigin(before, after.url)) return { secret: '', headers: {} };
  if (originOf(before.url) === originOf(after.url)) return before;
  const again = (stored: string, from: string, to: string): string => {
    const plain = stored === '' ? '' : read(stored, from);
    // What cannot be read stays set, so that nothing is sent without it.
    return plain === null ? stored : encrypt(plain, to);
  };
  return {
    secret: again(before.secret, secretContexts.endpoint(before), secretContexts.endpoint(after)),
    headers: Object.fromEntries(
      Object.entries(before.headers).map(([name, value]) => [
        name,
        again(value, secretContexts.header(before, name), secretContexts.header(after, name)),
      ]),
    ),
  };
}

function filterError(filter: unknown): string | null {
  try {
    if (typeof filter === 'string') readContentFilter(filter);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

/** An endpoint may be saved without a URL; it then receives nothing (contract 6.1). */
function urlError(url: string): string | null {
  if (url === '') return null;
  if (!isUrl(url)) return 'Enter a complete URL, like https://example.com/hooks.';
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') return 'Only http and https URLs are supported.';
  return username === '' && password === ''
    ? null
    : 'The URL must not contain a user name or password. Send them in a custom header.';
}

function readEvents(names: readonly string[], catalogue: Catalogue, errors: Record<string, string>): readonly string[] {
  if (!Array.isArray(names)) return names;
  const known = names.map((name) => [name, catalogue.resolveName(String(name))] as const);
  const unknown = known.filter(([, normal]) => normal === null).map(([name]) => String(name));
  if (unknown.length > 0) errors['events'] = `There is no event named ${unknown.join(', ')}.`;
  return [...new Set(known.flatMap(([, normal]) => (normal === null ? [] : [normal])))].sort();
}

function readHeaders(
  before: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string | null>>,
  {
    encrypt,
    errors,
  }: { readonly encrypt: (name: string, value: string) => string; readonly errors: Record<string, string> },
): Record<string, string> {
  const after = { ...before };
  for (const [name, value] of Object.entries(given)) {
    if (value === null) Reflect.deleteProperty(after, name);
    else if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(value))
      errors['headers'] = `'${name}' is not a valid header.`;
    // What HTTP carries: Latin-1. Otherwise each delivery would fail, where its cause is hard to see.
    else if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      errors['headers'] =
        `The value of the header ${name} has characters beyond Latin-1, which HTTP cannot send. Encode it.`;
    else if (name.length > limits.headerName || value.length > limits.headerValue)
      errors['headers'] = 'The name of a header may have at most 100 characters, its value 2,000.';
    else if (reservedHeaders.test(name)) errors['headers'] = `The header ${name} is set by the service.`;
    else after[name] = encrypt(name, value);
  }
  if (Object.keys(after).length > limits.headers) errors['headers'] = 'An endpoint may have at most 50 headers.';
  return after;
}
