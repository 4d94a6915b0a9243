import { Agent, request } from 'node:http';
import { queryObjects } from 'node:v8';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createRandom } from './random.ts';
import { brokenRequest, findTargets, type FuzzRequest } from './requests.ts';

export interface FuzzInit {
  /** As for a test host. */
  readonly database?: string;
  readonly requests: number;
  /** Default 1. */
  readonly seed?: number;
  /** Default: all. */
  readonly plugins?: readonly string[];
  /** Runs before the routes are listed. */
  readonly prepareHost?: (host: TestHost) => void;
}

export interface FuzzReport {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses with a status from 500 that no error of a catalogue explains, each with what was sent. */
  readonly unmapped: readonly string[];
  /** Of one response, in milliseconds, with what was sent. */
  readonly slowest: { readonly elapsed: number; readonly processor: number; readonly sent: string };
  /** Largest processor time of a response, in milliseconds. */
  readonly mostProcessor: number;
  /** Bytes after a collection of garbage: after the first fifth of the requests, and at the end. */
  readonly memory: { readonly before: number; readonly after: number };
}

const restKey = 'the REST key of the fuzz';

/**
 * Sends seeded requests, one after the other, to every route of a host with all plugins: as an administrator, with the REST
 * key and as a visitor. Providers are the sandbox's.
 */
export async function runFuzz({
  database,
  requests,
  seed = 1,
  plugins = ['svc', 'sandbox', 'hello'],
  prepareHost,
}: FuzzInit): Promise<FuzzReport> {
  const host = await createTestHost({
    plugins,
    ...(database !== undefined && { database }),
    clock: createSystemClock(),
    env: { LOG_LEVEL: 'error' },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const senders = await prepare(host);
    prepareHost?.(host);
    const random = createRandom(seed);
    const targets = findTargets(host.rest);
    const statuses: Record<string, number> = {};
    const unmapped: string[] = [];
    let slowest: FuzzReport['slowest'] = { elapsed: 0, processor: 0, sent: '' };
    let [mostProcessor, before] = [0, 0];
    for (let number = 0; number < requests; number += 1) {
      if (number === Math.floor(requests / 5)) before = usedMemory();
      const broken = brokenRequest(random.pick(targets), random);
      const sent = { ...broken, headers: { ...random.pick(senders), ...broken.headers } };
      const response = await send(host.url, sent, agent);
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      mostProcessor = Math.max(mostProcessor, response.processor);
      if (response.elapsed > slowest.elapsed) slowest = { ...response, sent: describeRequest(sent) };
      if (isUnmapped(response)) unmapped.push(`${describeRequest(sent)} -> ${response.status} ${response.text}`);
    }
    return { requests, statuses, unmapped, slowest, mostProcessor, memory: { before, after: usedMemory() } };
  } finally {
    agent.destroy();
    await host.stop();
  }
}

/** Content for the routes to find, and the headers of each sender. */
async function prepare(host: TestHost): Promise<Record<string, string>[]> {
  const password = 'orchid lantern gravel spoon';
  const users = await Promise.all(
    (['administrator', 'author'] as const).map((role) =>
      host.users.create({ login: role, email: `${role}@example.test`, password, role }),
    ),
  );
  for (const title of ['One', 'Two', 'Three'])
    await host.content.posts.create({ title, content: 'Text', status: 'publish', authorId: users[0]?.id ?? 1 });
  await host.cli('svc', 'sandbox', 'on');
  await host.cli('svc', 'key', 'set', restKey);
  // A fuzzed setting must not limit the requests that follow.
  host.hooks.addFilter('rest_pre_update_setting', () => true);
  const { password: applicationPassword } = await createApplicationPasswords(host).create(users[0]?.id ?? 1, 'fuzz');
  const basic = Buffer.from(`administrator:${applicationPassword}`).toString('base64');
  return [{ authorization: `Basic ${basic}` }, { authorization: `Bearer ${restKey}` }, {}];
}

interface Received {
  readonly status: number;
  readonly text: string;
  /** Milliseconds. */
  readonly elapsed: number;
  readonly processor: number;
}

/** Without fetch, which refuses some of the requests itself. */
function send(url: string, { method, path, headers, body }: FuzzRequest, agent: Agent): Promise<Received> {
  const started = performance.now();
  const spent = process.cpuUsage();
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/wp-json${path}`, { method, headers: { ...headers }, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += text.length < 2_000 ? chunk.slice(0, 2_000) : ''));
      response.on('error', reject);
      response.on('end', () => {
        const { user, system } = process.cpuUsage(spent);
        const elapsed = performance.now() - started;
        resolve({ status: response.statusCode ?? 0, text, elapsed, processor: (user + system) / 1_000 });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });
}

function isUnmapped({ status, text }: Received): boolean {
  if (status < 500) return false;
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  return code === undefined || code === 'rest_internal_error';
}

function describeRequest({ method, path, headers, body }: FuzzRequest): string {
  const { authorization = 'nobody', ...rest } = headers;
  return [
    method,
    path.slice(0, 300),
    authorization.split(' ')[0],
    JSON.stringify(rest).slice(0, 200),
    body?.slice(0, 500),
  ].join(' ');
}

/** Bytes in use after the collection of garbage with which a search for objects begins. */
function usedMemory(): number {
  queryObjects(URLSearchParams, { format: 'count' });
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
