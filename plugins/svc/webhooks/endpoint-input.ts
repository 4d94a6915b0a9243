import { isUrl } from '#plugin-api';
import type { Catalogue } from './catalogue.ts';
import type { EndpointInput } from './endpoint.ts';
import { invalidFields } from '../kit/field-errors.ts';
import type { StoredEndpoint } from './settings-store.ts';

const reservedHeaders =
  /^(x-svc-.*|webhook-(id|timestamp|signature)|content-length|content-type|host|connection|transfer-encoding)$/i;

export interface ApplyParts {
  readonly catalogue: Catalogue;
  readonly encrypt: (text: string) => string;
}

/** Returns the endpoint with the given members changed. @throws RestError 400 with `data.params`. */
export function applyInput(
  before: StoredEndpoint,
  input: EndpointInput,
  { catalogue, encrypt }: ApplyParts,
): StoredEndpoint {
  const errors: Record<string, string> = {};
  const { secret, headers, events, id: _id, ...plain } = input;
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
  const after: StoredEndpoint = {
    ...before,
    ...given,
    ...(input.name !== undefined && { name: String(input.name).trim() }),
    ...(input.url !== undefined && { url: String(input.url).trim() }),
    ...(events !== undefined && { events: readEvents(events, catalogue, errors) }),
    ...(secret !== undefined && { secret: encrypt(secret.trim()) }),
    ...(headers !== undefined && { headers: readHeaders(before.headers, headers, { encrypt, errors }) }),
  };
  if (after.name === '') errors['name'] = 'Enter a name for the endpoint.';
  if (after.name.length > 200) errors['name'] = 'The name may have at most 200 characters.';
  const url = urlError(after.url);
  if (url !== null) errors['url'] = url;
  if (!Number.isInteger(after.redirects) || after.redirects < 0 || after.redirects > 5)
    errors['redirects'] = 'Enter a whole number of redirects from 0 to 5.';
  for (const name of ['enabled', 'internal', 'standardWebhooks', 'longTail', 'ordered'] as const)
    if (typeof after[name] !== 'boolean') errors[name] = `${name} must be true or false.`;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return after;
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
  if (!Array.isArray(names)) {
    errors['events'] = 'events must be a list of names.';
    return [];
  }
  const known = names.map((name) => [name, catalogue.resolveName(String(name))] as const);
  const unknown = known.filter(([, normal]) => normal === null).map(([name]) => String(name));
  if (unknown.length > 0) errors['events'] = `There is no event named ${unknown.join(', ')}.`;
  return [...new Set(known.flatMap(([, normal]) => (normal === null ? [] : [normal])))].sort();
}

function readHeaders(
  before: Readonly<Record<string, string>>,
  given: Readonly<Record<string, string | null>>,
  { encrypt, errors }: { readonly encrypt: (text: string) => string; readonly errors: Record<string, string> },
): Record<string, string> {
  const after = { ...before };
  for (const [name, value] of Object.entries(given)) {
    if (value === null) Reflect.deleteProperty(after, name);
    else if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(value))
      errors['headers'] = `'${name}' is not a valid header.`;
    else if (reservedHeaders.test(name)) errors['headers'] = `The header ${name} is set by the service.`;
    else after[name] = encrypt(value);
  }
  return after;
}
