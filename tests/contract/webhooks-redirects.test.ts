import { execFile, execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import type { Clock } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { watchResponses, type ResponseWatch } from '../helpers/watch-responses.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { describeSites, started, startWebhookSite, type Ended, type WebhookSite } from './webhook-site.ts';

const signatureOf = ({ headers, body }: Received): string =>
  `sha256=${createHmac('sha256', 'a secret')
    .update(`${String(headers['x-svc-timestamp'])}.`)
    .update(body)
    .digest('hex')}`;

describeSites('redirects and answers of webhooks, through the queue', (site) => {
  let receiver: WebhookReceiver;
  const send = async () => {
    await site().emit('chatbot.session_started', started('c-1'));
    const [{ result }] = (await site().endings(1)) as readonly [Ended];
    return (await site().operator.deliveryLog.get(result.delivery_id))!;
  };
  beforeEach(async () => {
    receiver = await site().receiver();
    await site().operator.setSecret('a secret');
  });

  for (const status of [301, 302, 307, 308]) {
    it(`${String(status)} keeps POST, body, headers and signature, over two redirects within the origin`, async () => {
      receiver.answer = ({ path }) =>
        path === '/far'
          ? 200
          : {
              status,
              headers: { location: path === '/hook' ? '/there?a=%2Fb%20c' : `${receiver.origin}/far` },
            };
      await site().subscribe(receiver, {
        standardWebhooks: true,
        headers: { 'X-Api-Key': 'the key of the receiver' },
      });
      const found = await send();
      expect(found).to.deep.include({ state: 'delivered', attempts: 1, httpStatus: 200 });
      expect(found.attemptLog[0]?.url).to.equal(`${receiver.origin}/far`);
      const hops = receiver.received;
      expect(hops.map(({ path }) => path)).to.deep.equal(['/hook', '/there?a=%2Fb%20c', '/far']);
      for (const hop of hops) {
        expect(hop.method).to.equal('POST');
        expect(hop.body.equals(hops[0]!.body)).to.equal(true);
        expect(hop.headers['x-svc-signature']).to.equal(signatureOf(hop));
        for (const name of ['content-type', 'accept', 'x-svc-timestamp', 'x-svc-delivery-id', 'webhook-signature'])
          expect(hop.headers[name], name).to.equal(hops[0]!.headers[name]);
        expect(hop.headers['x-api-key']).to.equal('the key of the receiver');
      }
    });

    it(`${String(status)} to another origin fails at the first attempt: nothing is sent there`, async () => {
      const other = await site().receiver();
      receiver.answer = { status, headers: { location: `${other.origin}/far` } };
      await site().subscribe(receiver, {
        internal: true,
        headers: { 'X-Api-Key': 'the key of the receiver' },
      });
      const found = await send();
      expect(found).to.deep.include({ state: 'failed', attempts: 1, httpStatus: status, failure: 'redirect' });
      expect(found.attemptLog[0]?.error).to.equal(
        `${new URL(receiver.origin).host} redirects to another origin, ${other.origin}.`,
      );
      expect(receiver.received).to.have.length(1);
      expect(other.received).to.have.length(0);
    });
  }

  for (const [what, answer, hops] of [
    ['a third hop', (path: string) => ({ status: 307, headers: { location: `${path}x` } }), 3],
    ['303, which would drop the event', () => ({ status: 303, headers: { location: '/there' } }), 1],
    ['a redirect without an address', () => 302, 1],
    [
      'a redirect to an address that is not allowed',
      () => ({ status: 307, headers: { location: 'http://169.254.169.254/latest/' } }),
      1,
    ],
    ['a redirect to another scheme', () => ({ status: 307, headers: { location: 'ftp://127.0.0.1/' } }), 1],
  ] as const) {
    it(`${what} fails at the first attempt`, async () => {
      receiver.answer = ({ path }) => answer(path);
      await site().subscribe(receiver);
      expect(await send()).to.deep.include({ state: 'failed', attempts: 1 });
      expect(receiver.received).to.have.length(hops);
    });
  }

  it('307 to an address with bytes that are not encoded goes where those bytes say', async () => {
    for (const [sent, requested] of [
      [Buffer.from('/größe/日本?q=ü'), '/gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC?q=%C3%BC'],
      [Buffer.from('/größe', 'latin1'), '/gr%f6%dfe'],
    ] as const) {
      receiver.forget();
      receiver.answer = ({ path }) =>
        path === '/hook' ? { status: 307, headers: { location: sent.toString('latin1') } } : 200;
      const { id } = await site().subscribe(receiver);
      await site().emit('chatbot.session_started', started('c-1'));
      expect((await receiver.first(2)).map(({ path }) => path)).to.deep.equal(['/hook', requested]);
      await site().operator.removeEndpoint(id);
    }
  });

  it('a redirect that gains nothing: none are followed where the endpoint says so, and five where it says so', async () => {
    receiver.answer = ({ path }) => (path === '/hookxxxxx' ? 200 : { status: 308, headers: { location: `${path}x` } });
    await site().subscribe(receiver, { redirects: 5 });
    expect(await send()).to.deep.include({ state: 'delivered', attempts: 1 });
    const none = await site().receiver();
    none.answer = { status: 308, headers: { location: '/there' } };
    const [endpoint] = (await site().operator.settings()).endpoints;
    await site().operator.updateEndpoint(endpoint!.id, { redirects: 0, url: none.url });
    const {
      deliveries: [id],
    } = await site().emit('chatbot.session_started', started('c-2'));
    await site().endings(2);
    expect(await site().operator.deliveryLog.get(id!)).to.deep.include({
      state: 'failed',
      attempts: 1,
      httpStatus: 308,
    });
    expect(none.received).to.have.length(1);
  });

  it('of a long answer 16 KB are kept; bytes that are no text do no harm', async () => {
    receiver.answer = () => (response) =>
      void response.writeHead(200).end(Buffer.concat([Buffer.from([0, 255, 254, 0]), Buffer.alloc(100_000, 'x')]));
    await site().subscribe(receiver);
    const found = await send();
    expect(found).to.deep.include({ state: 'delivered' });
    expect(found.attemptLog[0]?.responseBody.length).to.be.at.most(16 * 1024);
  });

  it('an address is called as it was typed, percent-escapes and query included', async () => {
    await site().subscribe({ url: `${receiver.origin}/a%2Fb%20c/%C3%A9?q=%7Bx%7D&r=a+b` });
    await send();
    expect(receiver.received[0]?.path).to.equal('/a%2Fb%20c/%C3%A9?q=%7Bx%7D&r=a+b');
  });
});

describeHosts('webhooks to endpoints that never end their answers', (dialectCase) => {
  describe('on a site of its own', () => {
    const limit = 5_000;
    let body: ResponseWatch | null = null;
    let given: number[] = [];
    let site: WebhookSite;
    beforeEach(async () => {
      const clock = createSystemClock();
      given = [];
      // The 5 s are over when what came has been read, however long that takes.
      const after: Clock['after'] = (milliseconds, callback) => {
        if (body === null || milliseconds !== limit) return clock.after(milliseconds, callback);
        given.push(milliseconds);
        body.wait(callback);
        return () => undefined;
      };
      site = await startWebhookSite(dialectCase, { clock: { ...clock, after } });
    });
    afterEach(async () => {
      body?.stop();
      body = null;
      await site.stop();
    });

    it('a body that never ends after 200 is a success within the 5 s of the contract', async () => {
      const receiver = await site.receiver();
      receiver.answer = () => (response) => void response.writeHead(200).write('so far');
      await site.subscribe(receiver);
      body = watchResponses(receiver.origin, 'body');
      const {
        deliveries: [id],
      } = await site.emit('chatbot.session_started', started('c-1'));
      await site.endings(1);
      const found = await site.operator.deliveryLog.get(id!);
      expect(found).to.deep.include({ state: 'delivered', attempts: 1, httpStatus: 200 });
      expect(found?.attemptLog[0]?.responseBody).to.equal('so far');
      // One attempt, which was given the 5 s and no other time.
      expect(given).to.deep.equal([limit]);
    });
  });
});

describe('webhooks over TLS', () => {
  it('go to servers whose certificate is vouched for, and never from https to http', async function () {
    this.timeout(60_000);
    const folder = await mkdtemp(join(tmpdir(), 'tls-'));
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=localhost',
        '-addext',
        'subjectAltName=DNS:localhost',
        '-keyout',
        key,
        '-out',
        certificate,
      ],
      { stdio: 'ignore' },
    );
    // Whom a process trusts is settled when it starts.
    const child = fileURLToPath(new URL('webhook-tls-child.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [child, key, certificate], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate },
    });
    await rm(folder, { recursive: true });
    const said = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(said.secure).to.deep.equal({ state: 'delivered', attempts: 1, failure: null, requests: 2 });
    expect(said.insecure).to.deep.include({ state: 'failed', attempts: 1, failure: 'redirect' });
    expect(said.plainRequests).to.equal(0);
  });
});
