import { Agent, request } from 'node:http';
import { startSite } from '../helpers/running-site.ts';
import { listMultipliers, restKey, type Multiplier } from './multipliers.ts';
import { createRandom } from './random.ts';
import type { FuzzRequest } from './requests.ts';

export interface WorkResponse {
  readonly status: number;
  readonly text: string;
  /** The longest that `/healthz` took meanwhile, in milliseconds. */
  readonly delay: number;
}

/** A site in a process of its own, so that its delays are its own. */
export interface WorkSite {
  readonly multipliers: readonly Multiplier[];
  send(sent: FuzzRequest): Promise<WorkResponse>;
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
  const site = await startSite({
    LOG_LEVEL: 'error',
    ...administrator,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  });
  const agent = new Agent({ keepAlive: true });
  try {
    for (const plugin of ['svc', 'sandbox']) await site.cli('plugin', 'activate', plugin);
    await site.cli('svc', 'sandbox', 'on');
    await site.cli('svc', 'key', 'set', restKey);
    const elements = [{ id: 'topic', type: 'text', label: 'Topic' }];
    const form = { name: 'Fuzz', provider: 'openai', model: 'gpt-4o-mini', elements, prompt: '{topic}' };
    const { id } = JSON.parse(await site.cli('svc', 'form', 'create', '--json', JSON.stringify(form))) as {
      id: number;
    };
    const call = (sent: FuzzRequest, root = '/wp-json') => exchange(site.url + root, sent, agent);
    const health = { method: 'GET', path: '/healthz', headers: {}, body: null };
    return {
      multipliers: listMultipliers(String(id)),
      async send(sent) {
        let isDone = false;
        const answered = call(sent).finally(() => (isDone = true));
        let delay = 0;
        while (!isDone) {
          const started = performance.now();
          await call(health, '');
          delay = Math.max(delay, performance.now() - started);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return { ...(await answered), delay };
      },
      async memory() {
        const { text } = await call({ ...health, path: '/metrics' }, '');
        return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
      },
      async stop() {
        agent.destroy();
        await site.stop();
      },
    };
  } catch (error) {
    await site.stop();
    throw error;
  }
}

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

export interface WorkReport {
  readonly statuses: Readonly<Record<string, number>>;
  /** The longest `/healthz`, in milliseconds, with the request that caused it. */
  readonly worst: { readonly delay: number; readonly request: string };
}

/** Sends seeded requests that multiply one thing each, from one to far more than is accepted. */
export async function fuzzWork(site: WorkSite, requests: number, seed: number): Promise<WorkReport> {
  const random = createRandom(seed);
  const statuses: Record<string, number> = {};
  let worst: WorkReport['worst'] = { delay: 0, request: '' };
  for (let number = 0; number < requests; number += 1) {
    const { name, most, make } = random.pick(site.multipliers);
    const count = random.pick([1, Math.ceil(most / 2), most, most + 1, most * 2, 1 + random.below(most * 2)]);
    const { status, delay } = await site.send(make(count));
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (delay > worst.delay) worst = { delay, request: `${String(count)} ${name} (request ${String(number)})` };
  }
  return { statuses, worst };
}
