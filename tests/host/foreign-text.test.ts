import { expect } from 'chai';
import { request } from 'node:http';
import { createTestHost, type TestHost } from '#testing';
import { leastProcessorTime } from '../helpers/processor-time.ts';

/** Milliseconds of processor time for an attack and everything else that the process did meanwhile. */
const most = 100;

describe('text from anyone', () => {
  let host: TestHost;
  before(async () => {
    host = await createTestHost();
  });
  after(() => host.stop());

  /** Sends the attack and a health check at once. */
  const attacked = (attack: () => Promise<unknown>): Promise<number> =>
    leastProcessorTime(async () => {
      const [health] = await Promise.all([host.fetch('/healthz'), attack()]);
      expect(health.status).to.equal(200);
    });

  /** Without fetch, which would shorten the path. */
  const status = (path: string, headers: Record<string, string> = {}): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(host.url);
      request({ hostname, port, path, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
        .on('error', reject)
        .end();
    });

  it('stops nothing as 60,000 slashes in the path of a part of a batch', async () => {
    const body = JSON.stringify({ requests: [{ path: `${'/'.repeat(60_000)}x` }] });
    const spent = await attacked(async () => {
      const response = await host.fetch('/wp-json/batch/v1', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      expect(response.status).to.be.oneOf([207, 400]);
      await response.text();
    });
    expect(spent).to.be.below(most);
  });

  for (const [name, prefix] of [
    ['path', '/wp-json/'],
    ['rest_route', '/?rest_route=/'],
  ] as const)
    it(`stops nothing as 15,000 slashes in ${name}`, async () => {
      const path = `${prefix}${'/'.repeat(15_000)}x/`;
      expect(await attacked(async () => expect(await status(path)).to.equal(404))).to.be.below(most);
    });

  it('stops nothing as 15,000 blanks in If-None-Match', async () => {
    const blanks = { 'If-None-Match': `"a"${' '.repeat(15_000)}"b"` };
    await status('/feed');
    expect(await attacked(async () => expect(await status('/feed', blanks)).to.equal(200))).to.be.below(most);
  });

  it('is compared with the tag of a feed, alone and in a list', async () => {
    const tag = (await host.fetch('/feed')).headers.get('etag') ?? '';
    for (const header of [tag, `W/${tag}`, `"a" ,${tag} , "b"`])
      expect(await status('/feed', { 'If-None-Match': header })).to.equal(304);
  });
});
