import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { sandboxKey } from '../../plugins/sandbox/fake.ts';
import { openSandbox } from '../sandbox/helpers/open-sandbox.ts';
import { startSite } from '../helpers/running-site.ts';
import { listMultipliers, restKey, type Multiplier } from './multipliers.ts';
import { createRandom, type Random } from './random.ts';
import type { FuzzRequest } from './requests.ts';
import { postOf, textParts, viewsOf } from './texts.ts';

export interface WorkResponse {
  readonly status: number;
  readonly text: string;
  /** Milliseconds: the longest that `/healthz` took meanwhile, and the response itself. */
  readonly delay: number;
  readonly elapsed: number;
  /** Milliseconds of processor time: the longest that the event loop of the site was busy without a pause. */
  readonly slice: number;
}

/** A site in a process of its own, so that its delays are its own. */
export interface WorkSite {
  readonly multipliers: readonly Multiplier[];
  send(sent: FuzzRequest): Promise<WorkResponse>;
  /** The same for a path of the site, redirects included. */
  view(path: string): Promise<WorkResponse>;
  /** Headers of an administrator. */
  readonly author: FuzzRequest['headers'];
  /** Bytes of the process that are in memory. */
  memory(): Promise<number>;
  stop(): Promise<void>;
}

/** @param databaseUrl of an empty PostgreSQL database; undefined: SQLite */
export async function startWorkSite(databaseUrl?: string): Promise<WorkSite> {
  const administrator = {
    ADMIN_USER: 'admin',
    ADMIN_EMAIL: 'admin@example.test',
    ADMIN_PASSWORD: 'a long password of tests',
  };
  const site = await startSite(
    { LOG_LEVEL: 'error', ...administrator, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) },
    ['--import', fileURLToPath(new URL('./slices.ts', import.meta.url))],
  );
  const agent = new Agent({ keepAlive: true });
  // Its work is not the site's.
  const upstream = await openSandbox();
  try {
    await site.cli('plugin', 'activate', 'svc');
    await site.cli(
      'svc',
      'provider',
      'set',
      'openai',
      `--api-key=${sandboxKey}`,
      `--base-url=${upstream.url}/openai/v1`,
    );
    await site.cli('svc', 'key', 'set', restKey);
    const elements = [{ id: 'topic', type: 'text', label: 'Topic' }];
    const form = { name: 'Fuzz', provider: 'openai', model: 'gpt-4o-mini', elements, prompt: '{topic}' };
    const { id } = JSON.parse(await site.cli('svc', 'form', 'create', '--json', JSON.stringify(form))) as {
      id: number;
    };
    const call = (sent: FuzzRequest, root = '/wp-json') => exchange(site.url + root, sent, agent);
    const [, slices = ''] = await site.waitFor(/Slices on (\S+)/);
    const longestSlice = async (): Promise<number> => Number((await exchange(slices, health, agent)).text);
    const measure = async (run: () => Promise<Pick<WorkResponse, 'status' | 'text'>>): Promise<WorkResponse> => {
      let isDone = false;
      const began = performance.now();
      let elapsed = 0;
      const answered = run().finally(() => ((isDone = true), (elapsed = performance.now() - began)));
      let delay = 0;
      while (!isDone) {
        const started = performance.now();
        await call(health, '');
        delay = Math.max(delay, performance.now() - started);
        await new Promise((resolve) => setTimeout(resolve, betweenLooks));
      }
      return { ...(await answered), delay, elapsed, slice: await longestSlice() };
    };
    const health = { method: 'GET', path: '/healthz', headers: {}, body: null };
    await longestSlice();
    return {
      multipliers: listMultipliers(String(id)),
      author: { authorization: await createPassword(site.url, administrator) },
      send: (sent) => measure(() => call(sent)),
      view: (path) =>
        measure(async () => {
          const response = await fetch(site.url + path);
          return { status: response.status, text: (await response.text()).slice(0, 20_000) };
        }),
      async memory() {
        const { text } = await call({ ...health, path: '/metrics' }, '');
        return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
      },
      async stop() {
        agent.destroy();
        await site.stop();
        await upstream.close();
      },
    };
  } catch (error) {
    await site.stop();
    await upstream.close();
    throw error;
  }
}

/** An application password, as the header `Authorization`. */
async function createPassword(
  url: string,
  { ADMIN_USER: login, ADMIN_PASSWORD: password }: { readonly ADMIN_USER: string; readonly ADMIN_PASSWORD: string },
): Promise<string> {
  const form = { method: 'POST', redirect: 'manual', body: new URLSearchParams({ login, password }) } as const;
  const cookie = (await fetch(`${url}/admin/login`, form)).headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  const nonce = await (await fetch(`${url}/admin/rest-nonce`, { headers: { cookie } })).text();
  const created = await fetch(`${url}/wp-json/wp/v2/users/me/application-passwords`, {
    method: 'POST',
    headers: { cookie, 'x-wp-nonce': nonce, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'fuzz' }),
  });
  const { password: made } = (await created.json()) as { readonly password: string };
  return `Basic ${Buffer.from(`${login}:${made}`).toString('base64')}`;
}

/** Milliseconds between two looks at `/healthz`. What holds up others is seen however it falls; slices have no gaps. */
const betweenLooks = 25;

const ignore = (): void => undefined;

/** A connection that is closed before the body has been sent counts as refused: status 0. */
function exchange(
  root: string,
  { method, path, headers, body }: FuzzRequest,
  agent: Agent,
): Promise<Pick<WorkResponse, 'status' | 'text'>> {
  return new Promise((resolve) => {
    const outgoing = request(root + path, { method, headers: { ...headers }, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += text.length < 20_000 ? chunk : ''));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.on('error', () => resolve({ status: 0, text: '' }));
    // Also after the response: the site closes the connection of a body that it does not read to its end.
    outgoing.once('socket', (socket) => {
      if (socket.listenerCount('error', ignore) === 0) socket.on('error', ignore);
    });
    outgoing.end(body ?? undefined);
  });
}

interface Slowest {
  /** Milliseconds. */
  readonly time: number;
  /** What was sent, with its number in the run of the seed. */
  readonly request: string;
}

export interface WorkReport {
  readonly statuses: Readonly<Record<string, number>>;
  readonly slice: Slowest;
  readonly health: Slowest;
  readonly response: Slowest;
}

/** One in so many requests goes to the limit and beyond. Each costs as much as hundreds of others. */
const extremes = 40;
/** Characters of a post. */
const longest = 970_000;

/** From 1 to `most`, each order of magnitude as often. */
function anySize(random: Random, most: number): number {
  return Math.max(1, Math.round(most ** (random.below(1_000_001) / 1_000_000)));
}

/** Measures once more what held up `/healthz`, so that a busy machine is not taken for the request: its shortest delay counts. */
async function lookAgain(
  first: WorkResponse,
  limit: number,
  repeat: () => Promise<WorkResponse>,
): Promise<WorkResponse> {
  let shortest = first;
  for (let again = 0; again < 2 && shortest.delay > limit; again += 1) {
    const next = await repeat();
    if (next.delay < shortest.delay) shortest = { ...first, delay: next.delay };
  }
  return shortest;
}

export interface FuzzWorkInit {
  readonly requests: number;
  readonly seed: number;
  /** Milliseconds of `/healthz` above which a request is sent again, to see whether it was the cause. */
  readonly limit: number;
  /** After every thousand requests, with their number and the slowest `/healthz` until then. */
  readonly onProgress?: (sent: number, health: Slowest) => void;
}

/** Sends seeded requests that multiply one thing each, from one to far more than is accepted, and posts that repeat one text. */
export async function fuzzWork(
  site: WorkSite,
  { requests, seed, limit, onProgress }: FuzzWorkInit,
): Promise<WorkReport> {
  const random = createRandom(seed);
  const statuses: Record<string, number> = {};
  let health: Slowest = { time: 0, request: '' };
  let response: Slowest = { time: 0, request: '' };
  let slice: Slowest = { time: 0, request: '' };
  let sent = 0;
  const note = ({ status, delay, elapsed, ...work }: WorkResponse, what: string): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    const request = `${what} (request ${String(sent)} of seed ${String(seed)})`;
    if (work.slice > slice.time) slice = { time: work.slice, request };
    if (delay > health.time) health = { time: delay, request };
    if (elapsed > response.time) response = { time: elapsed, request };
    sent += 1;
    if (sent % 1_000 === 0) onProgress?.(sent, health);
  };
  const measure = async (run: () => Promise<WorkResponse>): Promise<WorkResponse> => lookAgain(await run(), limit, run);
  while (sent < requests) {
    if (random.once(2)) {
      const { name, most, make } = random.pick(site.multipliers);
      const count = random.once(extremes) ? random.pick([most, most + 1, most * 2]) : anySize(random, most * 2);
      note(await measure(() => site.send(make(count))), `${String(count)} ${name}`);
      continue;
    }
    const part = random.pick(textParts);
    const length = random.once(extremes) ? longest : anySize(random, longest);
    const what = `${String(length)} characters of ${JSON.stringify(part)}`;
    const saved = await measure(() => site.send(postOf(part, length, site.author)));
    note(saved, `saving ${what}`);
    const id = /^\{"id":(\d+)/.exec(saved.text)?.[1];
    if (id === undefined) continue;
    for (const path of viewsOf(Number(id))) note(await measure(() => site.view(path)), `${path} with ${what}`);
    // The lists hold ten others besides.
    if (random.once(2))
      await site.send({ method: 'DELETE', path: `/wp/v2/posts/${id}?force=true`, headers: site.author, body: null });
  }
  return { statuses, health, response, slice };
}
