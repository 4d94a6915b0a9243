import { expect } from 'chai';
import { connect } from 'node:net';
import { call } from './helpers/call.ts';
import { openSandbox } from './helpers/open-sandbox.ts';
import type { OpenSandbox } from './helpers/open-sandbox.ts';

const key = { authorization: 'Bearer sandbox' };

describe('the sandbox server', () => {
  let sandbox: OpenSandbox;
  beforeEach(async () => {
    sandbox = await openSandbox();
  });
  afterEach(() => sandbox.close());

  it('listens on the loopback address alone, once however often it is started', async () => {
    expect(sandbox.url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await Promise.all([sandbox.server.start(), sandbox.server.start()])).to.deep.equal([
      { url: sandbox.url },
      { url: sandbox.url },
    ]);
  });

  it('frees its port when stopped, with a request still waiting, and can start again', async () => {
    sandbox.turn({ fault: 'slow', delay_ms: 60000 });
    const waiting = call(`${sandbox.url}/openai/v1/models`, { headers: key }).then(
      () => 'answered',
      () => 'cut off',
    );
    while (sandbox.clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    await sandbox.server.stop();
    expect(await waiting).to.equal('cut off');
    expect(sandbox.server.url()).to.equal(null);
    const refused = await new Promise((resolve) => {
      connect(Number(new URL(sandbox.url).port), '127.0.0.1')
        .once('error', (error) => {
          resolve((error as NodeJS.ErrnoException).code);
        })
        .once('connect', () => {
          resolve('connected');
        });
    });
    expect(refused).to.equal('ECONNREFUSED');
    sandbox.turn({});
    const { url } = await sandbox.server.start();
    expect((await call(`${url}/openai/v1/models`, { headers: key })).status).to.equal(200);
  });

  it('stops waiting for a slow answer whose caller has gone', async () => {
    sandbox.turn({ fault: 'slow', delay_ms: 60000 });
    const controller = new AbortController();
    const asked = fetch(`${sandbox.url}/openai/v1/models`, { headers: key, signal: controller.signal }).catch(
      () => 'gone',
    );
    while (sandbox.clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await asked).to.equal('gone');
    while (sandbox.clock.pending() > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('remembers the last 20 requests, newest first, without keys', async () => {
    for (let index = 0; index < 25; index += 1)
      await call(`${sandbox.url}/google/v1beta/models/m-${String(index)}?key=a-secret-key`);
    const recent = sandbox.server.recent();
    expect(recent).to.have.lengthOf(20);
    expect(recent[0]).to.deep.equal({
      at: sandbox.clock.now(),
      method: 'GET',
      path: '/google/v1beta/models/m-24',
      provider: 'google',
      status: 400,
      fault: 'none',
    });
    expect(JSON.stringify(recent)).not.to.contain('secret');
  });

  it('answers many at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        call(`${sandbox.url}/openai/v1/chat/completions`, {
          headers: key,
          body: { model: 'm', messages: [{ role: 'user', content: `echo:${String(index)}` }] },
        }),
      ),
    );
    expect(
      answers.map(({ json }) => (json as { choices: { message: { content: string } }[] }).choices[0]!.message.content),
    ).to.deep.equal(Array.from({ length: 100 }, (_, index) => String(index)));
  });
});
