import type { JsonSchema } from '#plugin-api';
import type { Rest } from '../../host/rest/rest.ts';
import type { Random } from './random.ts';
import { brokenValue, hostileText, validValue } from './values.ts';

/** A request, without who sends it. */
export interface FuzzRequest {
  readonly method: string;
  /** Below the REST root, with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

interface Target {
  readonly method: string;
  readonly route: string;
  readonly args: readonly { readonly name: string; readonly schema: JsonSchema; readonly required: boolean }[];
}

/** Would lock the sender out, so that later requests reach nothing. */
const endsTheSender = (method: string, route: string): boolean =>
  method === 'DELETE' && (route === '/wp/v2/users/me' || route.includes('application-passwords'));

/** Every method of every route of the table. */
export function findTargets(rest: Pick<Rest, 'describe'>): Target[] {
  return rest
    .describe()
    .flatMap(({ route, endpoints }) =>
      endpoints.flatMap(({ methods, args }) => methods.map((method) => ({ method, route, args }))),
    )
    .filter(({ method, route }) => !endsTheSender(method, route));
}

/** A request to the target in which one part breaks its schema: an argument, a part of the path, the body or a header. */
export function brokenRequest({ method, route, args }: Target, random: Random): FuzzRequest {
  const broken = args.length > 0 && !random.once(5) ? random.pick(args).name : null;
  const inPath = new Set([...route.matchAll(/\(\?P<(\w+)>/g)].map(([, name = '']) => name));
  const given = Object.fromEntries(
    args
      .filter(({ name, required }) => !inPath.has(name) && (name === broken || required || random.once(3)))
      .map(({ name, schema }) => [name, name === broken ? brokenValue(schema, random) : validValue(schema, random)]),
  );
  // Every request that breaks no argument breaks something else.
  const path = fillPath(route, broken !== null && !inPath.has(broken) ? null : random);
  const isRead = method === 'GET' || method === 'DELETE';
  return {
    method,
    path: isRead || random.once(10) ? `${path}?${encodeQuery(given)}${extraQuery(random)}` : path,
    headers: extraHeaders(random),
    body: isRead ? null : random.once(20) ? brokenBody(random) : JSON.stringify(given),
  };
}

/** Without a source of choices, small numbers and words. */
function fillPath(route: string, random: Random | null): string {
  return route.replace(/\(\?P<\w+>(?:[^()]|\([^()]*\))*\)/g, (group) => {
    if (random?.once(3)) return encodeURIComponent(Buffer.from(hostileText(random)).toString()) || '0';
    const isNumber = group.includes('\\d');
    return isNumber ? String(random === null ? 2 : random.pick([0, 2, 3, 2 ** 31, '9'.repeat(20)])) : 'post';
  });
}

function encodeQuery(given: Readonly<Record<string, unknown>>): string {
  const pairs: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) add(`${name}[${key}]`, member);
    else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(Buffer.from(String(value)).toString())}`);
  };
  for (const [name, value] of Object.entries(given)) add(name, value);
  // The request line of HTTP/1.1 holds 16 KB with the headers.
  return pairs
    .join('&')
    .slice(0, 12_000)
    .replace(/%[^%]?$/, '');
}

function extraQuery(random: Random): string {
  if (!random.once(8)) return '';
  return random.pick([
    '&_envelope=1&_embed=1',
    '&_fields=a.b.c,_links,__proto__',
    '&_fields[]=%ff',
    `&${'a[]=1&'.repeat(1_200)}`,
    `&a${'[b]'.repeat(100)}=1`,
    '&_locale=user&_jsonp=x',
    '&__proto__[x]=1',
  ]);
}

function extraHeaders(random: Random): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  if (!random.once(6)) return json;
  return random.pick<Record<string, string>>([
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="../a.png"' },
    { ...json, 'x-http-method-override': 'DELETEX' },
    { ...json, 'idempotency-key': 'k'.repeat(2_000) },
    { ...json, 'if-none-match': ' '.repeat(2_000) },
    { ...json, authorization: 'Basic !!!' },
    { ...json, 'x-wp-nonce': 'x'.repeat(500) },
    { ...json, origin: 'null' },
    { ...json, 'accept-language': 'x,'.repeat(1_000) },
  ]);
}

function brokenBody(random: Random): string {
  return random.pick([
    '',
    '{',
    'null',
    '1e999',
    '"text"',
    '[1,2,3]',
    '['.repeat(20_000),
    `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`,
    '{"__proto__":{"x":1}}',
    '{"a":"\\ud800"}',
    `a=1&${'b[c]=2&'.repeat(2_000)}`,
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na\r\n--x--',
  ]);
}
