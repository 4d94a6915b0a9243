import { spawn, type ChildProcess } from 'node:child_process';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import type { Database } from '../../host/database/database.ts';
import { checkout } from '../helpers/running-site.ts';

export interface Location {
  readonly databaseUrl: string | null;
  readonly dataDir: string;
}

/** Nodes say what they hear on this channel. */
export const asked = 'webhook_nodes';

export interface Node {
  /** Resolves once it works the queue. */
  readonly ready: Promise<void>;
  /** Resolves once it has heard this on the channel, and with it all that was told before. */
  heard(what: string): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal and waits for the end; answers the exit code, null when it was killed. */
  end(name: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export interface Nodes {
  /** A process of its own that works the queue of the database. */
  start(location: Location): Node;
  /** Kills those that are left. */
  stop(): Promise<void>;
}

/** @param program the file that a node runs, with database URL and data folder as its arguments. */
export function createNodes(program = 'tests/faults/webhook-node.ts'): Nodes {
  const running = new Map<Node, ChildProcess>();

  function start({ databaseUrl, dataDir }: Location): Node {
    const child = spawn(process.execPath, [program, databaseUrl ?? '', dataDir], {
      cwd: checkout,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    let said = '';
    const saying = (line: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (said.includes(`${line}\n`)) resolve();
        };
        child.stdout.on('data', look);
        look();
      });
    child.stdout.on('data', (part: Buffer) => (said += part.toString()));
    const ready = new Promise<void>((resolve, reject) => {
      void saying('Working').then(resolve);
      void ended.then((code) => {
        reject(new Error(`The node ended with code ${String(code)} before it was ready.`));
      });
    });
    // Killed before anybody asked.
    ready.catch(() => undefined);
    const node: Node = {
      ready,
      heard: (what) => saying(`Heard ${what}`),
      signal: (name) => void child.kill(name),
      end(name) {
        running.delete(node);
        child.kill(name);
        return ended;
      },
    };
    running.set(node, child);
    return node;
  }

  return {
    start,
    async stop() {
      for (const node of [...running.keys()]) await node.end('SIGKILL');
    },
  };
}

/** As if the time of all leases had run out: of nodes that were killed or stopped, nobody waits for the rest of it. */
export async function ageLeases(database: Database): Promise<void> {
  await database.knex(tables.leases).update({ until: 1 });
}

/** Jobs that some node has claimed. */
export async function claimed(database: Database): Promise<number> {
  if (database.dialect === 'postgresql')
    return Number((await database.knex(tables.leases).count({ n: '*' }))[0]?.['n']);
  const rows: { jobs: string }[] = await database.knex(tables.leases).select('jobs');
  return rows.reduce((sum, { jobs }) => sum + (JSON.parse(jobs) as number[]).length, 0);
}
