import { isDeepStrictEqual } from 'node:util';
import type { DialectCase } from '../helpers/dialects.ts';
import { openWordPressSite, readRows, type RecordedRow, type WordPressSite } from './wordpress-site.ts';

/** A page of WordPress, as the recording has it: a question, a refusal, or a password. */
interface RecordedPage {
  readonly die?: string;
  readonly codes?: readonly string[];
  readonly links?: readonly { readonly href: string }[];
  readonly notices?: readonly string[];
  readonly text?: readonly string[];
  readonly hidden?: Readonly<Record<string, string>>;
  readonly name?: string | null;
  readonly display?: string | null;
}

/** What a page comes to, in the same words for both. Addresses are empty for the dashboard. */
type Meaning =
  | { readonly signInFor: string }
  | { readonly goes: string }
  | { readonly refused: string; readonly back?: string }
  | { readonly shows: string }
  | {
      readonly asks: string;
      readonly appId: string;
      readonly approved: string;
      readonly rejected: string;
      readonly isNameMissing: boolean;
    };

export function readApplicationPasswords(): ReturnType<typeof readRows> {
  return readRows('application-passwords.jsonl.gz');
}

/** The site of the recording. `difference` compares pages by what they mean, as they look and read otherwise here. */
export async function openApplicationPasswordSite(dialectCase: DialectCase): Promise<WordPressSite> {
  const site = await openWordPressSite(dialectCase, { terms: [], posts: [], logins: ['victim'] });
  let sent: RecordedRow['sent'] = {};
  const { hooks } = site.host;
  hooks.addFilter('wp_is_application_passwords_available', (is) => is && sent?.['x-rec-noapp'] === undefined);
  hooks.addFilter(
    'wp_is_application_passwords_available_for_user',
    (is) => is && sent?.['x-rec-noappuser'] === undefined,
  );
  await site.host.options.update('blogname', 'Rec Site');
  // The list shows when each of them was used last: the recorded request itself did.
  for (const login of ['editor', 'subscriber'] as const)
    await site.host.fetch('/wp-json/wp/v2/users/me', { headers: { authorization: site.credentials(login) } });
  // Lists are sorted by when they were created.
  site.host.clock.jump(1_000);
  return {
    ...site,
    difference: (row) => {
      sent = row.sent ?? {};
      return row.path.startsWith('/wp-admin/') ? pageDifference(site, row) : site.difference(row);
    },
  };
}

/** Forms lead nowhere else here (CSP): where WordPress redirects, the user follows a link with the same address. */
async function pageDifference(site: WordPressSite, row: RecordedRow): Promise<string | null> {
  const actual = await visit(site, row);
  const recorded = meaningOf(row);
  return isDeepStrictEqual(actual, recorded)
    ? null
    : `page ${JSON.stringify(actual)}, recorded ${JSON.stringify(recorded)}`;
}

const page = 'authorize-application';

async function visit(site: WordPressSite, row: RecordedRow): Promise<Meaning> {
  const headers = row.as === 'anonymous' ? {} : await site.session(row.as);
  const get = async (path: string): Promise<Response> =>
    site.host.fetch(path, { headers: cookieOf(headers), redirect: 'manual' });
  if (row.method === 'GET') {
    const moved = await get(`${row.path}${row.query === '' ? '' : `?${row.query}`}`);
    return ownMeaning(site, await get(moved.headers.get('location') ?? ''));
  }
  const { approve, reject, _wp_http_referer: referer = '', ...fields } = row.body as Readonly<Record<string, string>>;
  const asked = await (await get(`/admin/${page}?${referer.split(/\?(.*)/s)[1] ?? ''}`)).text();
  if (reject !== undefined && approve === undefined) return { goes: linkOf(asked, 'Do not allow') };
  const nonce = /name="_nonce" value="([^"]+)"/.exec(asked.slice(asked.indexOf('<main')))?.[1] ?? '';
  const response = await site.host.fetch(`/admin/${page}${approve === undefined ? '' : '?action=authorize'}`, {
    method: 'POST',
    headers: cookieOf(headers),
    redirect: 'manual',
    body: new URLSearchParams({ ...fields, _nonce: row.id === 'approve.badnonce' ? 'wrong' : nonce }),
  });
  return ownMeaning(site, response);
}

const cookieOf = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  headers['cookie'] === undefined ? {} : { cookie: headers['cookie'] };

/** What a page of this host means. */
async function ownMeaning({ host }: WordPressSite, response: Response): Promise<Meaning> {
  const html = await response.text();
  const location = response.headers.get('location');
  if (location !== null) return { signInFor: queryOf(new URL(location, host.url).searchParams.get('to') ?? '') };
  if (response.status === 403) return { refused: /has expired/.test(html) ? 'expired' : html };
  if (response.status === 404) return { refused: 'no such action' };
  const refusal = /This request for access is not allowed\. ([^<]+)/.exec(html)?.[1];
  if (refusal !== undefined) {
    const code = Object.entries(reasons).find(([, sentence]) => sentence.test(refusal))?.[0];
    return code === undefined ? { refused: refusal.trim(), back: linkOf(html, 'Go back') } : { refused: code };
  }
  const password = /data-copy-source>([^<]+)</.exec(html)?.[1];
  if (password !== undefined) {
    const link = linkOf(html, 'Return to');
    const kind = /^(\w{4} ){5}\w{4}$/.test(password) ? '{password}' : password;
    const shown = link.replace(/(?<=password=)\w{24}(?=#|$)/, '{password}');
    return link === '' ? { shows: kind } : { goes: shown.replace(encodeURIComponent(host.site.url), '{site:encoded}') };
  }
  return {
    asks: valueOf(html, 'app_name'),
    appId: valueOf(html, 'app_id'),
    approved: valueOf(html, 'success_url'),
    rejected: linkOf(html, 'Do not allow'),
    isNameMissing: html.includes('Enter a name of 1 to 100 characters'),
  };
}

/** WordPress names all reasons, this host the first one. */
const reasons: Readonly<Record<string, RegExp>> = {
  invalid_redirect_scheme: /is not secure/,
  invalid_redirect_url_format: /is not a valid URL|must begin with https:/,
  invalid_app_id: /must be a UUID/,
};

/** What the recorded page means. It has the statuses of `wp_die` (500 and 501); refusals of a GET are 200 here. */
function meaningOf({ response, headers, status }: RecordedRow): Meaning {
  const location = headers['Location'];
  if (location?.includes('/wp-login.php') === true) {
    const target = new URL(location.replace('{site:encoded}', '').replace('{site}', 'http://site'));
    return { signInFor: queryOf(target.searchParams.get('redirect_to') ?? '') };
  }
  if (location !== undefined) return { goes: withoutDashboard(location) };
  const { die, codes = [], links = [], notices = [], text = [], hidden = {}, name, display } = response as RecordedPage;
  if (die !== undefined && status === 403) return { refused: /has expired/.test(die) ? 'expired' : die };
  if (die !== undefined)
    return codes[0] === undefined
      ? { refused: die, back: withoutDashboard(links[0]?.href ?? '') }
      : { refused: codes[0].replace(/\*\d$/, '') };
  if (typeof display === 'string') return { shows: display.slice(0, '{password}'.length) };
  const [, approved = '', rejected = ''] = text.map((line) => /^You will be sent to (.*)$/.exec(line)?.[1] ?? '');
  return {
    asks: name ?? '',
    appId: hidden['app_id'] ?? '',
    approved: approved.replace(/[?&]site_url=.*$/, ''),
    rejected,
    isNameMissing: notices.some((notice) => notice.includes('name is required')),
  };
}

const withoutDashboard = (address: string): string => (address === '{site}/wp-admin/' ? '' : address);
const queryOf = (address: string): string => address.split(/\?(.*)/s)[1] ?? '';

/** The value of a field; WordPress and this host escape texts in HTML. */
function valueOf(html: string, name: string): string {
  const tag = [...html.matchAll(/<input\b[^>]*>/g)].find(([text]) => text.includes(`name="${name}"`))?.[0] ?? '';
  return unescaped(/ value="([^"]*)"/.exec(tag)?.[1] ?? '');
}

/** Where a link with this text leads; empty: to the dashboard, or there is none. */
function linkOf(html: string, text: string): string {
  const link = [...html.matchAll(/<a\b([^>]*)>([^<]*)</g)].find(([, , label = '']) => label.trim().startsWith(text));
  const href = unescaped(/ href="([^"]*)"/.exec(link?.[1] ?? '')?.[1] ?? '');
  return href === '/admin/' || href === '/admin' ? '' : href;
}

function unescaped(text: string): string {
  return text
    .replace(/&#x([\dA-F]+);/gi, (_whole, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)))
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');
}
