import { spawn, type ChildProcess } from 'node:child_process';
import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { defaultFaultSettings, type FaultSettings } from '../../plugins/sandbox/fault-injection.ts';
import { createSandboxServer } from '../../plugins/sandbox/server.ts';
import { usageTable } from '../../plugins/svc/modules/usage/ledger/usage-tables.ts';
import { itemJob, taskTables } from '../../plugins/svc/modules/automations/tables.ts';
import { startWebhookReceiver } from '../contract/webhook-receiver.ts';
import { checkout } from '../helpers/running-site.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openAutomationsHost, resultsTable } from './automations-host.ts';
import { until } from '../helpers/until.ts';
import type { Location } from './webhook-nodes.ts';

export interface AutomationsKillReport {
  readonly items: number;
  readonly kills: number;
  readonly completed: number;
  readonly failed: number;
  /** Items in neither state, or failed without a reason. */
  readonly unfinished: number;
  /** Items whose work was stored more or less than once though they are completed, or at all though they failed. */
  readonly wrong: number;
  /** Items whose event did not arrive as one act, with their state. */
  readonly wrongEvents: number;
  /** Attempts beyond the first of each item. */
  readonly furtherAttempts: number;
  /** Items under way at the moments of the kills. */
  readonly inHand: number;
  /** Sums of the costs of items and of the ledger, in millionths of a dollar: equal. */
  readonly costOfItems: number;
  readonly costOfLedger: number;
  /** Calls in the ledger. */
  readonly calls: number;
  /** Completed items of which the ledger knows no call that went well. */
  readonly unpaid: number;
}

export interface AutomationsKills {
  readonly location: Location;
  readonly items: number;
  readonly kills: number;
  /** Do not wait for the leases of the killed ones to run out. */
  readonly hurried: boolean;
}

/** What the provider does in turn, from kill to kill; the share is of its requests. */
const dials: readonly Partial<FaultSettings>[] = [
  { fault: '500', rate: 0.4 },
  { fault: 'slow', rate: 1, delay_ms: 150 },
  { fault: '429', rate: 0.3 },
  { fault: 'cut', rate: 0.4 },
  { fault: 'garbage', rate: 0.3 },
  { fault: 'slow', rate: 0.5, delay_ms: 300 },
];

/** Two nodes at work on a task while its provider fails; over and over, the one that has worked for longer is killed. */
export async function automationsKills({
  location,
  items,
  kills,
  hurried,
}: AutomationsKills): Promise<AutomationsKillReport> {
  let faults: FaultSettings = defaultFaultSettings;
  const sandbox = createSandboxServer({
    clock: createSystemClock(),
    log: silentLog,
    faults: () => Promise.resolve(faults),
  });
  const { url: sandboxUrl } = await sandbox.start();
  const receiver = await startWebhookReceiver();
  // It serves the web, and must not work on anything.
  const site = await openAutomationsHost({ location, sandboxUrl, role: 'web' });
  const nodes = createNodes(location, sandboxUrl);
  const { knex } = site.database;
  const countOf = async (...states: readonly string[]): Promise<number> =>
    Number(
      (
        await knex(taskTables.items)
          .whereIn('state', [...states])
          .count({ n: '*' })
      )[0]?.['n'],
    );
  let inHand = 0;
  try {
    await prepare(site, receiver.url, items);
    const pair = [nodes.start(), nodes.start()];
    await Promise.all(pair.map(({ ready }) => ready));
    for (let kill = 0; kill < kills; kill += 1) {
      faults = { ...defaultFaultSettings, ...dials[kill % dials.length], seed: kill + 1 };
      const before = await countOf('completed', 'failed');
      await pair[0]?.ready;
      const enough = Math.min(items - 1, before + Math.max(1, Math.floor((items - before) / (kills - kill + 1))));
      await until('the nodes go on', async () => (await countOf('completed', 'failed')) >= enough, 120_000);
      inHand += await countOf('processing');
      await pair.shift()?.end('SIGKILL');
      pair.push(nodes.start());
    }
    faults = { ...defaultFaultSettings, fault: '500', rate: 0.2 };
    await pair.at(-1)?.ready;
    if (hurried) await knex('jobs').where({ name: itemJob, state: 'running' }).update({ due_at: 1 });
    await until('every item is finished', async () => (await countOf('completed', 'failed')) === items, 300_000);
    await until(
      'every event is delivered',
      () => new Set(receiver.received.map(({ headers }) => headers['x-svc-idempotency-key'])).size >= items,
      120_000,
    );
    await Promise.all(pair.map((node) => node.end('SIGTERM')));
    return {
      items,
      kills,
      inHand,
      ...(await audit(
        site,
        receiver.received.map(({ body }) => JSON.parse(body.toString()) as Event),
      )),
    };
  } finally {
    await nodes.stop();
    await site.stop();
    await receiver.stop();
    await sandbox.stop();
  }
}

interface Event {
  readonly idempotency_key: string;
  readonly type: string;
  readonly data: {
    readonly queue_item: { readonly id: number; readonly status: string; readonly attempts: number };
    readonly result: { readonly generated_post_id?: number };
  };
}

async function prepare(site: TestHost, receiver: string, items: number): Promise<void> {
  await site.database.knex.schema.createTable(resultsTable, (columns) => {
    columns.increments('id');
    columns.string('key', 100).notNullable();
    columns.text('content').notNullable();
  });
  const cli = async (...argv: string[]): Promise<string> => {
    const { code, out, err } = await site.cli(...argv);
    if (code !== 0) throw new Error(err);
    return out;
  };
  await cli('svc', 'prices', 'set', JSON.stringify([{ provider: 'openai', model: '*', input: 3, output: 7 }]));
  await cli('svc', 'webhook', 'on');
  await cli(
    'svc',
    'webhook',
    'add',
    '--json',
    JSON.stringify({ name: 'Shop', url: receiver, events: ['task.item_completed'] }),
  );
  await site.options.update('svc_automations', { concurrency: 8 });
  const list = Array.from({ length: items }, (_, index) => `topic ${String(index + 1)}`);
  const task = JSON.parse(
    await cli(
      'svc',
      'task',
      'create',
      '--json',
      JSON.stringify({ name: 'Faults', type: 'fault_answers', source: { kind: 'list', items: list }, attempts: 4 }),
    ),
  ) as { readonly id: number };
  await cli('svc', 'task', 'run', String(task.id));
}

interface Row {
  readonly id: number;
  readonly task_id: number;
  readonly state: string;
  readonly attempts: number;
  readonly message: string;
  readonly post_id: number | null;
}

async function audit(
  site: TestHost,
  events: readonly Event[],
): Promise<Omit<AutomationsKillReport, 'items' | 'kills' | 'inHand'>> {
  const { knex } = site.database;
  const rows = (await knex(taskTables.items).select('*')) as Row[];
  const results = (await knex(resultsTable).select('key')) as { readonly key: string }[];
  const stored = new Map<string, number>();
  for (const { key } of results) stored.set(key, (stored.get(key) ?? 0) + 1);
  const keyOf = ({ id, task_id: task }: Row): string => `automation:${String(task)}:${String(id)}`;
  const calls = (await knex(usageTable).select('reference', 'cost', 'outcome')) as {
    readonly reference: string | null;
    readonly cost: number | null;
    readonly outcome: string;
  }[];
  const paid = new Set(calls.filter(({ outcome }) => outcome === 'ok').map(({ reference }) => reference));
  const listed = await costsOf(site, rows);
  const posts = await site.content.posts.count({ status: 'any' });
  return {
    completed: rows.filter(({ state }) => state === 'completed').length,
    failed: rows.filter(({ state }) => state === 'failed').length,
    unfinished: rows.filter(
      ({ state, message }) => !['completed', 'failed'].includes(state) || (state === 'failed' && message === ''),
    ).length,
    wrong:
      rows.filter((row) => (stored.get(keyOf(row)) ?? 0) !== (row.state === 'completed' ? 1 : 0)).length +
      Math.abs(posts - results.length),
    wrongEvents: rows.filter((row) => !isTold(row, events)).length,
    furtherAttempts: rows.reduce((sum, { attempts }) => sum + attempts - 1, 0),
    costOfItems: listed,
    costOfLedger: calls.reduce((sum, { cost }) => sum + Number(cost ?? 0), 0),
    calls: calls.length,
    unpaid: rows.filter((row) => row.state === 'completed' && !paid.has(keyOf(row))).length,
  };
}

/** As the list of items tells it, page by page. */
async function costsOf(site: TestHost, rows: readonly Row[]): Promise<number> {
  let sum = 0;
  for (let before = ''; ;) {
    const { out, err } = await site.cli(
      'svc',
      'task',
      'items',
      String(rows[0]?.task_id),
      '--limit=200',
      ...(before === '' ? [] : [`--before=${before}`]),
      '--json',
    );
    if (err !== '') throw new Error(err);
    const page = JSON.parse(out) as { readonly id: number; readonly cost: string }[];
    sum += page.reduce((total, { cost }) => total + Math.round(Number(cost) * 1_000_000), 0);
    if (page.length < 200) return sum;
    before = String(page.at(-1)?.id);
  }
}

/** Every event of the item is one act, however often it was delivered, and tells what the queue knows. */
function isTold({ id, state, attempts, post_id: post }: Row, events: readonly Event[]): boolean {
  const own = events.filter(({ data }) => data.queue_item.id === id);
  return (
    own.length > 0 &&
    new Set(own.map(({ idempotency_key: key }) => key)).size === 1 &&
    own.every(
      ({ data: { queue_item: item, result } }) =>
        item.status === state && item.attempts === attempts && (result.generated_post_id ?? null) === post,
    )
  );
}

interface Node {
  /** Resolves once it works the queue. */
  readonly ready: Promise<void>;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Nodes as processes of their own. */
function createNodes({ databaseUrl, dataDir }: Location, sandboxUrl: string): { start(): Node; stop(): Promise<void> } {
  const running = new Map<Node, ChildProcess>();
  return {
    start() {
      const child = spawn(
        process.execPath,
        ['tests/faults/automations-node.ts', databaseUrl ?? '', dataDir, sandboxUrl],
        { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const ended = new Promise<void>((resolve) =>
        child.once('exit', () => {
          resolve();
        }),
      );
      const ready = new Promise<void>((resolve, reject) => {
        child.stdout.once('data', () => {
          resolve();
        });
        void ended.then(() => {
          reject(new Error('The node ended before it was ready.'));
        });
      });
      // Killed before anybody asked.
      ready.catch(() => undefined);
      const node: Node = {
        ready,
        end(signal) {
          running.delete(node);
          child.kill(signal);
          return ended;
        },
      };
      running.set(node, child);
      return node;
    },
    async stop() {
      for (const node of [...running.keys()]) await node.end('SIGKILL');
    },
  };
}
