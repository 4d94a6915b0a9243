import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { DialectCase } from '../helpers/dialects.ts';
import { isSame, readRecording } from './replay.ts';

/** One recorded request with its answer. */
export interface RecordedRow {
  readonly id: string;
  readonly as: 'admin' | 'editor' | 'subscriber' | 'anonymous';
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body?: unknown;
  readonly sent?: Readonly<Partial<Record<'auth' | 'x-rec-noapp' | 'x-rec-noappuser' | 'x-rec-local', string>>>;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly response: unknown;
}

export interface Fixture {
  readonly id: number | string;
  readonly [member: string]: unknown;
}

interface Setup {
  readonly terms: readonly Fixture[];
  readonly posts: readonly Fixture[];
  /** Logins of users besides the callers. */
  readonly logins?: readonly string[];
}

/** The rows of a recording, and what the site had before. */
export function readRows<Own = Setup>(file: string): { readonly setup: Own; readonly rows: readonly RecordedRow[] } {
  const [first = '', ...lines] = readRecording(file).trim().split('\n');
  return {
    ...(JSON.parse(first) as { readonly setup: Own }),
    rows: lines.map((line) => JSON.parse(line) as RecordedRow),
  };
}

/** A site with the posts, terms, users and plugins of the recording, and the numbers that its marks stand for. */
export interface WordPressSite {
  readonly host: TestHost;
  /** Sends a recorded request. Null, or the first difference as one sentence. */
  difference(row: RecordedRow): Promise<string | null>;
  /** The header `Authorization` of a caller. */
  credentials(as: RecordedRow['as']): string;
  /** The headers of a caller's browser. */
  session(as: RecordedRow['as']): Promise<Readonly<Record<string, string>>>;
  /** An admin page as the administrator sees it. */
  page(path: string): Promise<{ readonly status: number; readonly html: string }>;
  stop(): Promise<void>;
}

/** @param setup default: only users. */
export async function openWordPressSite(
  { location, directory }: DialectCase,
  setup: Setup = { terms: [], posts: [] },
): Promise<WordPressSite> {
  const { databaseUrl, dataDir } = location();
  const installed = join(directory(), 'plugins');
  await mkdir(installed, { recursive: true });
  const host = await createTestHost({
    database: databaseUrl ?? dataDir,
    plugins: 'found',
    pluginDirs: [installed],
  });
  for (const path of await writePlugins(directory())) await host.plugins.install({ path });
  const marks: Marks = new Map();
  const credentials = await createUsers(host, marks, setup.logins ?? []);
  const sessions = new Map<string, Promise<Record<string, string>>>();
  const session = (as: string): Promise<Record<string, string>> => {
    const opened = sessions.get(as) ?? signIn(host, as);
    sessions.set(as, opened);
    return opened;
  };
  // The recorded site has posts at `/%postname%/`, and open comments.
  host.hooks.addFilter('post_link', (address, { slug, status }) =>
    status === 'draft' ? address : `${host.site.url}/${slug}/`,
  );
  await host.options.update('default_comment_status', 'open');
  await fill(host, marks, setup);
  return {
    host,
    async difference(row) {
      const { response, text } = await send({ host, marks, credentials, session }, bySession(row));
      bind(marks, row, { response, text });
      return compare({ row: resolve(row, { host, marks }), response, text });
    },
    credentials: (as) => credentials.get(as) ?? '',
    session,
    async page(path) {
      const response = await host.fetch(path, { headers: await session('admin') });
      return { status: response.status, html: await response.text() };
    },
    stop: () => host.stop(),
  };
}

/**
 * Stricter than WordPress, an application password may neither create another one nor switch plugins here (403
 * `application_password_not_allowed`, tests/users/fresh-sign-in.test.ts). So the same user sends with a session what the recording
 * sent with a password.
 */
function bySession(row: RecordedRow): RecordedRow {
  const isPassword = row.path.endsWith('/application-passwords');
  const isPlugin = row.method !== 'GET' && row.path.startsWith('/wp/v2/plugins');
  return row.as !== 'anonymous' && (isPassword || isPlugin) ? { ...row, sent: { ...row.sent, auth: 'session' } } : row;
}

/** Ids by mark, without braces. Those of application passwords are text. */
type Marks = Map<string, number | string>;

async function createUsers(host: TestHost, marks: Marks, others: readonly string[]): Promise<Map<string, string>> {
  const passwords = createApplicationPasswords(host);
  const credentials = new Map<string, string>();
  for (const [login, role] of [
    ['admin', 'administrator'],
    ['editor', 'editor'],
    ['subscriber', 'subscriber'],
  ] as const) {
    const user = await host.users.create({
      login,
      role,
      email: `${login}@example.com`,
      password: 'correct horse battery',
    });
    marks.set(`user:${login}`, user.id);
    const { password } = await passwords.create(user.id, 'rec');
    credentials.set(login, `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`);
  }
  for (const login of others) {
    const password = 'correct horse battery';
    marks.set(`user:${login}`, (await host.users.create({ login, email: `${login}@example.com`, password })).id);
  }
  return credentials;
}

const nameOf = (mark: unknown): string => String(mark).replace(/[{}]/g, '');

async function fill({ content }: TestHost, marks: Marks, { terms, posts }: Setup): Promise<void> {
  const idOf = (mark: unknown): number => Number(marks.get(nameOf(mark)) ?? mark);
  for (const { id, taxonomy, name, slug, description, parent, default: isThere } of terms) {
    if (isThere === true) continue;
    const term = await content.terms.create(String(taxonomy), {
      name: String(name),
      ...(typeof slug === 'string' && { slug }),
      ...(typeof description === 'string' && { description }),
      ...(parent !== undefined && { parentId: idOf(parent) }),
    });
    marks.set(nameOf(id), term.id);
  }
  for (const { id, title, type, status, author, date, content: html, categories, tags } of posts) {
    const post = await content.posts.create({
      title: String(title),
      type: String(type),
      status: String(status),
      authorId: idOf(author),
      date: Date.parse(`${String(date)}Z`),
      content: String(html),
      terms: { category: (categories as unknown[]).map(idOf), post_tag: (tags as unknown[]).map(idOf) },
    });
    marks.set(nameOf(id), post.id);
  }
}

/** The folders of the two plugins of the recording; the second one needs something that is not there. */
async function writePlugins(directory: string): Promise<readonly string[]> {
  const folder = join(directory, 'recorded-plugins');
  const plugins = {
    'rec-one': {
      manifest: {
        name: 'Rec One',
        version: '1.2.3',
        description: "First <b>tiny</b> plugin. It's small.",
        main: 'rec-one.js',
        host: '^1',
        homepage: 'https://example.test/one',
        author: { name: 'Rec', url: 'https://example.test/' },
      },
      entry: 'rec-one.js',
    },
    'rec-two': {
      manifest: {
        name: 'Rec Two',
        version: '0.1.0',
        description: 'Second.',
        host: '^1',
        requires: { 'not-there': '^1' },
      },
      entry: 'index.js',
    },
  };
  for (const [slug, { manifest, entry }] of Object.entries(plugins)) {
    await mkdir(join(folder, slug), { recursive: true });
    await writeFile(join(folder, slug, 'plugin.json'), JSON.stringify({ slug, ...manifest }));
    await writeFile(join(folder, slug, entry), 'export default { register() {} };\n');
  }
  return Object.keys(plugins).map((slug) => join(folder, slug));
}

interface Sending {
  readonly host: TestHost;
  readonly marks: Marks;
  readonly credentials: ReadonlyMap<string, string>;
  readonly session: (as: string) => Promise<Readonly<Record<string, string>>>;
}

async function send({ host, marks, credentials, session }: Sending, row: RecordedRow) {
  const { path, query, method, body, as } = resolve(row, { host, marks });
  const authorization = credentials.get(as);
  const signedIn = row.sent?.auth === undefined ? null : await session(as);
  const response = await host.fetch(`/wp-json${path}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: {
      ...(signedIn ?? (authorization === undefined ? {} : { authorization })),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { response, text: await response.text() };
}

async function signIn(host: TestHost, login: string): Promise<Record<string, string>> {
  const body = new URLSearchParams({ login, password: 'correct horse battery' });
  const opened = await host.fetch('/admin/login', { method: 'POST', body, redirect: 'manual' });
  const cookie = (opened.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const nonce = await (await host.fetch('/admin/rest-nonce', { headers: { cookie } })).text();
  return { cookie, 'x-wp-nonce': nonce };
}

/** A new item gets its mark from the address of a recorded 201, an application password also where a list shows it first. */
function bind(marks: Marks, row: RecordedRow, { response, text }: { response: Response; text: string }): void {
  const mark = /\{((?:post|term|uuid):\d+)\}$/.exec(row.headers['Location'] ?? '')?.[1];
  const id = response.headers.get('location')?.split('/').at(-1);
  if (mark !== undefined && id !== undefined) marks.set(mark, mark.startsWith('uuid:') ? id : Number(id));
  if (!Array.isArray(row.response) || !response.ok) return;
  const items = JSON.parse(text) as readonly { readonly uuid?: string }[];
  for (const [index, { uuid }] of (row.response as readonly { readonly uuid?: unknown }[]).entries()) {
    const name = nameOf(uuid);
    const own = items[index]?.uuid;
    if (name.startsWith('uuid:') && own !== undefined && !marks.has(name)) marks.set(name, own);
  }
}

/** The row with the site's address and numbers in it. */
function resolve(row: RecordedRow, { host, marks }: Pick<Sending, 'host' | 'marks'>): RecordedRow {
  const text = JSON.stringify(row)
    .replaceAll('{site}', host.site.url)
    .replace(/"\{((?:post|term|user):\w+)\}"/g, (whole, mark: string) => String(marks.get(mark) ?? whole))
    .replace(/\{((?:post|term|user|uuid):\w+)\}/g, (whole, mark: string) => String(marks.get(mark) ?? whole));
  return JSON.parse(text) as RecordedRow;
}

function compare({ row, response, text }: { row: RecordedRow; response: Response; text: string }): string | null {
  if (response.status !== row.status) return `status ${response.status}, recorded ${row.status}: ${text}`;
  for (const [name, value] of Object.entries(row.headers)) {
    const actual = response.headers.get(name);
    // Ours adds the discovery link behind an answer's own links (D1).
    const isEqual = name === 'Link' ? actual?.startsWith(value) === true : actual === value;
    if (!isEqual) return `header ${name} is ${String(actual)}, recorded ${value}`;
  }
  // Ours names what the caller could do before the deletion.
  const isDeleted = row.method === 'DELETE' && row.status === 200;
  if (row.headers['Allow'] === undefined && response.headers.has('allow') && !isDeleted)
    return `there is a header Allow: ${String(response.headers.get('allow'))}`;
  const isOfRecording = conditions.some((pattern) => pattern.test(row.id)) && row.status !== 404;
  const form = (value: unknown): unknown => (isOfRecording ? kindsOf(value, '') : plain(value, ''));
  const actual = text === '' ? null : form(JSON.parse(text));
  const recorded = form(row.response);
  const wanted = isTrimmed(recorded) ? trim(recorded) : recorded;
  const given = withoutBounds(isTrimmed(recorded) ? trim(actual) : actual, wanted);
  return isSame(given, wanted) ? null : `body ${JSON.stringify(given)}, recorded ${JSON.stringify(wanted)}`;
}

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null;

/**
 * One form for what says the same: an error has `data.status` always (contract 7) and no `additional_data`; schemas say
 * `readOnly`, as JSON Schema does, and name no version; an apostrophe and an ampersand may be written as entities; a
 * pattern takes linear time.
 */
function plain(value: unknown, name: string): unknown {
  if (typeof value === 'string')
    return ofMoment(value, name)
      .replace(/&#0?39;|&#8217;|’/g, "'")
      .replace(/&#038;/g, '&amp;')
      .replace('does not match pattern .*\\S.*.', 'does not match pattern \\S.');
  if (Array.isArray(value)) return value.map((item: unknown) => plain(item, name));
  if (!isMembers(value)) return value;
  const isError = name === '' && typeof value['code'] === 'string' && 'data' in value;
  const members = Object.entries(value).filter(([member]) => member !== '$schema' && member !== 'additional_data');
  return Object.fromEntries(
    members.map(([member, inner]) => {
      if (isError && member === 'data' && (inner === null || Object.keys(inner as Members).join() === 'status'))
        return [member, 'a status'];
      if ('requires_php' in value && ofManifest.includes(member) && typeof inner === 'string') return [member, 'text'];
      return [member === 'readOnly' ? 'readonly' : member, plain(inner, member)];
    }),
  );
}

/** The marks of what is another value each time. */
function ofMoment(text: string, name: string): string {
  if (name === 'created' || name === 'last_used') return text.replace(/^\d{4}(-\d\d){2}T\d\d(:\d\d){2}$/, '{date}');
  return name === 'password' ? text.replace(/^(\w{4} ){5}\w{4}$/, '{password}') : text;
}

/**
 * Rows whose texts and numbers are those of the recorded server: verdicts of Site Health, sizes, and a plugin directory that
 * was not reached. Their members and codes are compared.
 */
const conditions = [
  /^tests\.[a-z]+-[a-z]+(\.cookie)?$/,
  /^tests\.fields$/,
  /^sizes$/,
  /^plugins\.install\.(badslug|blocked)$/,
];
const excluded = /^(test|code|color)$/;

/** Names and kinds of all members. */
function kindsOf(value: unknown, name: string): unknown {
  if (!isMembers(value)) {
    if (excluded.test(name)) return value;
    return name === 'raw' ? 'number' : typeof value;
  }
  const members = Object.entries(value).filter(([member]) => member !== 'additional_data');
  return Object.fromEntries(members.map(([member, inner]) => [member, kindsOf(inner, member)]));
}

/** What a manifest of this host says otherwise, or not at all. */
const ofManifest: readonly string[] = ['version', 'requires_wp', 'requires_php', 'textdomain'];

const bounds: readonly string[] = ['maxLength', 'maxItems', 'minimum', 'maximum'];

/** Every argument has bounds here; those that the recording lacks are left out. */
function withoutBounds(actual: unknown, recorded: unknown): unknown {
  if (Array.isArray(actual))
    return actual.map((item: unknown, index) =>
      withoutBounds(item, Array.isArray(recorded) ? (recorded as unknown[])[index] : undefined),
    );
  if (!isMembers(actual) || !isMembers(recorded)) return actual;
  const isSchema = 'type' in actual || 'description' in actual;
  return Object.fromEntries(
    Object.entries(actual)
      .filter(([name]) => !(isSchema && bounds.includes(name) && !(name in recorded)))
      .map(([name, inner]) => [name, withoutBounds(inner, recorded[name])]),
  );
}

const isTrimmed = (recorded: unknown): boolean => isMembers(recorded) && '{trimmed}' in recorded;

/** Of descriptions of routes, only the fields that the recording is about were kept. */
function trim(value: unknown): unknown {
  const { endpoints, schema } = value as {
    readonly endpoints: readonly { readonly methods: unknown; readonly args: Members }[];
    readonly schema: { readonly properties: Members };
  };
  const own = (members: Members): Members =>
    Object.fromEntries(Object.entries(members).filter(([name]) => name.startsWith('rec_')));
  return {
    endpoints: endpoints.map(({ methods, args }) => ({ methods, args: own(args) })),
    schema: { properties: own(schema.properties) },
  };
}
