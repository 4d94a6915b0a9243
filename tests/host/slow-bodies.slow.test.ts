import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { checkout, startSite, type RunningSite } from '../helpers/running-site.ts';
import { postHead, sendRaw, type RawExchange } from '../rest/raw-request.ts';

const megabyte = 1_048_576;
const slowBodies = 200;

describe('many slow bodies of visitors at once', () => {
  let site: RunningSite;
  let open: RawExchange[] = [];
  before(async function () {
    this.timeout(120_000);
    const preload = pathToFileURL(join(checkout, 'tests/helpers/collect-garbage.mjs')).href;
    site = await startSite({
      NODE_OPTIONS: `--expose-gc --import ${preload}`,
      ADMIN_USER: 'ada',
      ADMIN_PASSWORD: 'correct horse battery',
      ADMIN_EMAIL: 'ada@example.com',
    });
  });
  after(async () => {
    for (const { socket } of open) socket.destroy();
    await site.stop();
  });

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${site.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }
  /** What the process holds: the least of four readings, between which garbage was collected. */
  async function bytes(): Promise<number> {
    const readings: number[] = [];
    for (let reading = 0; reading < 4; reading += 1) {
      readings.push((await metric('nodejs_heap_size_used_bytes')) + (await metric('nodejs_external_memory_bytes')));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return Math.min(...readings);
  }

  /** The pages and routes that a visitor uses meanwhile. */
  async function visit(): Promise<void> {
    const started = performance.now();
    expect((await fetch(`${site.url}/healthz`)).status).to.equal(200);
    expect((await fetch(`${site.url}/`)).status).to.equal(200);
    expect((await fetch(`${site.url}/wp-json/svc/v1/generate`, { method: 'POST', body: '{}' })).status).to.equal(401);
    expect(performance.now() - started).to.be.below(10_000);
  }

  it('hold at most 64 MB, and the site goes on answering', async function () {
    this.timeout(120_000);
    const form = '/wp-json/svc-widget/v1/forms/1/submit';
    expect((await fetch(site.url + form, { method: 'POST', body: '{}' })).status, 'the route exists').to.be.above(400);
    for (let round = 0; round < 3; round += 1) await visit();
    const before = await bytes();
    // Each announces 12 MB and sends half a megabyte of it: 100 MB in all.
    open = Array.from({ length: slowBodies }, () => sendRaw(site.url, postHead(form, 12 * megabyte)));
    const refused = open.map((exchange) => exchange.until(/ 503 /).then(() => true));
    for (const { socket } of open) socket.write(Buffer.alloc(megabyte / 2, 97));
    // What does not fit is refused; the rest waits for more.
    await Promise.any(refused);
    expect(await metric('http_request_bodies_bytes')).to.be.within(megabyte, 32 * megabyte);
    let most = 0;
    for (let round = 0; round < 5; round += 1) {
      most = Math.max(most, (await bytes()) - before);
      await visit();
    }
    expect(most / megabyte).to.be.below(64);
  });
});
