import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';

describe('a block of the event loop', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost();
  });
  after(() => host.stop());

  const block = (): void => {
    const until = performance.now() + 400;
    while (performance.now() < until);
  };
  const logged = async (name: string): Promise<Record<string, unknown>> => {
    for (;;) {
      const line = host.logged.find((text) => text.includes('"event_loop_blocked"') && text.includes(name));
      if (line !== undefined) return JSON.parse(line) as Record<string, unknown>;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const blocks = async (): Promise<number> =>
    Number(/^event_loop_blocks_total (\d+)$/m.exec(await (await host.fetch('/metrics')).text())?.[1]);

  it('is logged with its route and counted', async () => {
    const before = await blocks();
    host.rest.registerRoute('slow/v1', '/sync/(?P<id>\\d+)', { handler: () => block() });
    await host.fetch('/wp-json/slow/v1/sync/7');
    const line = await logged('/slow/v1/sync');
    expect(line).to.include({ event: 'event_loop_blocked', is_certain: true });
    expect(line['during']).to.deep.equal(['GET /slow/v1/sync/(?P<id>\\d+)']);
    expect(line['duration_ms']).to.be.at.least(200);
    expect(await blocks()).to.be.above(before);
  });

  it('is logged with what ran meanwhile, if it came after a wait', async () => {
    host.rest.registerRoute('slow/v1', '/later', {
      handler: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        block();
      },
    });
    await host.fetch('/wp-json/slow/v1/later');
    expect((await logged('/slow/v1/later'))['during']).to.include('GET /slow/v1/later');
  });

  it('is logged with its page, without the query', async () => {
    host.hooks.addFilter('the_title', (title: string) => (block(), title));
    await host.content.posts.create({ title: 'Slow', content: 'Text', status: 'publish' });
    await host.fetch('/?secret=1');
    const line = await logged('"GET /"');
    expect(line['during']).to.include('GET /');
    expect(JSON.stringify(line)).not.to.contain('secret');
  });

  it('is logged with its job', async () => {
    host.hooks.addAction('slow_job', block);
    await host.cron.schedule('hourly', 'slow_job');
    await host.cron.run('slow_job');
    expect((await logged('cron slow_job'))['during']).to.include('cron slow_job');
  });
});
