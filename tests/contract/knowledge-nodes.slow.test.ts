import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { startKnowledgeSite, type KnowledgeSite } from './knowledge-site.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const sections = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) =>
      `# Section ${String(at)}\n\nThe drawer number ${String(at)} holds ${String(at * 7)} spoons and a spare key for the cabinet.`,
  ).join('\n\n');

describeHosts('indexing on several nodes', ({ location }) => {
  describe('on sites of their own', () => {
    const env = { SECRET_KEY: randomBytes(32).toString('hex') };
    let site: KnowledgeSite;
    let receiver: WebhookReceiver;
    let base: number;
    const nodes: ChildProcess[] = [];

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startKnowledgeSite({ database: databaseUrl ?? dataDir, env: { ...env, DATA_DIR: dataDir } });
      receiver = await startWebhookReceiver();
      base = await site.base('Help', '--chunk=50', '--overlap=0');
      await site.host.cli('svc', 'webhook', 'on');
      await site.host.cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({ name: 'Shop', url: receiver.url, events: ['kb.source_indexed'] }),
      );
    });
    afterEach(async () => {
      for (const node of nodes.splice(0)) node.kill('SIGKILL');
      await site.stop();
      await receiver.stop();
    });

    const { knex } = { knex: () => site.host.database.knex };
    const vectors = async (): Promise<number> =>
      Number(((await knex()('sandbox_records').count({ total: '*' })) as { total: number | string }[])[0]?.total);
    const chunks = async (): Promise<number> =>
      Number(
        (
          (await knex()('svc_knowledge_chunks').where({ is_written: 1 }).count({ total: '*' })) as {
            total: number | string;
          }[]
        )[0]?.total,
      );

    it('works on each source on one node at a time: each is embedded once, each event sent once', async function () {
      this.timeout(90_000);
      const { databaseUrl, dataDir } = location();
      const second = await startKnowledgeSite({ database: databaseUrl ?? dataDir, env: { ...env, DATA_DIR: dataDir } });
      try {
        await Promise.all(
          Array.from({ length: 12 }, (_, at) =>
            (at % 2 === 0 ? site : second).run(
              'knowledge',
              'add',
              String(base),
              `--title=Source ${String(at)}`,
              `--text=Text number ${String(at)} about drawers.`,
            ),
          ),
        );
        await site.settled(base);
        await receiver.first(12);
        expect(await vectors()).to.equal(12);
        const events = receiver.received.map(
          ({ body }) => (JSON.parse(body.toString()) as { data: { source: { log_id: number } } }).data.source.log_id,
        );
        expect(new Set(events).size).to.equal(12);
        expect(events).to.have.length(12);
      } finally {
        await second.stop();
      }
    });

    it('goes on where a node that was killed left off, with nothing twice', async function () {
      this.timeout(120_000);
      const { databaseUrl, dataDir } = location();
      await site.stop();
      // A node that serves the web leaves the work to others.
      site = await startKnowledgeSite({
        database: databaseUrl ?? dataDir,
        env: { ...env, DATA_DIR: dataDir, ROLE: 'web' },
      });
      await site.run('knowledge', 'add', String(base), '--title=Drawers', `--text=${sections(1_200)}`);
      // The worker's twenty-third call, some of the way on, does not come back: it is in the midst of its work until it is killed.
      await site.host.options.update('sandbox_dial', {
        fault: 'slow',
        rate: 0.1,
        delay_ms: 600_000,
        seed: 26,
        pace_ms: 0,
      });
      const killed = await until(
        worker({ databaseUrl, dataDir }),
        async () => (await chunks()) > 0 && (await chunks()) < 1_200,
      );
      expect(killed).to.equal(true);
      await site.host.options.update('sandbox_dial', { fault: 'none', rate: 0, delay_ms: 0, seed: 1, pace_ms: 0 });
      const before = await chunks();
      expect(before).to.be.greaterThan(0).and.lessThan(1_200);
      await knex()('jobs').where({ state: 'running' }).update({ due_at: 1 });
      await site.run('knowledge', 'index', String(base));
      await site.settled(base);
      expect(await chunks()).to.equal(1_200);
      expect(await vectors()).to.equal(1_200);
      await receiver.first(1);
      expect(receiver.received).to.have.length(1);
      const [source] = (await site.run('knowledge', 'sources', String(base))) as { message: string }[];
      expect(Number(/(?<!\d)(\d+) unchanged/.exec(source?.message ?? '')?.[1])).to.be.at.least(before);
    });

    /** A node of its own, in a process of its own, that does the work. */
    function worker({
      databaseUrl,
      dataDir,
    }: {
      readonly databaseUrl: string | null;
      readonly dataDir: string;
    }): ChildProcess {
      const own = {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '',
        PORT: '0',
        DATA_DIR: dataDir,
        ROLE: 'worker',
        ...env,
        ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
      };
      const node = spawn(process.execPath, ['host/main.js'], {
        cwd: checkout,
        env: own,
        stdio: 'ignore',
      });
      nodes.push(node);
      return node;
    }

    async function until(node: ChildProcess, reached: () => Promise<boolean>): Promise<boolean> {
      const exited = new Promise((resolve) => node.once('exit', resolve));
      let is = false;
      while (!is && node.exitCode === null) {
        is = await reached();
        if (!is) await new Promise((resolve) => setTimeout(resolve, 10));
      }
      node.kill('SIGKILL');
      await exited;
      return is;
    }
  });
});
