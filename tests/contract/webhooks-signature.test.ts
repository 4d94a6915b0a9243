import { execFileSync } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { expect } from 'chai';
import { failureOf } from '../helpers/failure-of.ts';
import { Webhook } from 'standardwebhooks';
import type { EndpointInput } from '../../plugins/svc/webhooks/endpoint.ts';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import { describeSites, started } from './webhook-site.ts';

const day = 86_400;
const text = (headers: Received['headers'], name: string): string => String(headers[name]);
const base = ({ headers, body }: Received): Buffer =>
  Buffer.concat([Buffer.from(`${text(headers, 'x-svc-timestamp')}.`), body]);
/** As a receiver does it (contract 6.6). */
const isSignedBy = (secret: string, request: Received): boolean => {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(base(request)).digest('hex')}`);
  const given = Buffer.from(text(request.headers, 'x-svc-signature'));
  return expected.length === given.length && timingSafeEqual(expected, given);
};
const verifiesStandard = (secret: string, { headers, body }: Received): boolean => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describeSites('signatures of webhooks', (site) => {
  let receiver: WebhookReceiver;
  const send = async (id = 'c-1'): Promise<Received> => {
    const before = receiver.received.length;
    await site().emit('chatbot.session_started', { ...started(id), message: { text: 'Grüße, 漢字 🙂' } });
    return (await receiver.first(before + 1)).at(-1) as Received;
  };
  const subscribe = (init: EndpointInput = {}) => site().subscribe(receiver, init);
  beforeEach(async () => {
    receiver = await site().receiver();
  });

  for (const secret of [
    'a plain secret',
    'ключ 🔑',
    'with "quotes" and \\ and $(x)',
    // The block of SHA-256: a longer key is hashed first.
    'k'.repeat(64),
    'l'.repeat(65),
    'x'.repeat(1000),
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ]) {
    it(`are those that node's crypto and openssl make of the raw bytes: ${secret.slice(0, 40)} (${String(Buffer.byteLength(secret))})`, async () => {
      await site().operator.setSecret(secret);
      await subscribe();
      const request = await send();
      expect(request.headers['x-svc-signature-alg']).to.equal('sha256');
      expect(request.headers['x-svc-signature']).to.match(/^sha256=[0-9a-f]{64}$/);
      expect(isSignedBy(secret, request)).to.equal(true);
      expect(isSignedBy(`${secret}x`, request)).to.equal(false);
      const said = execFileSync(
        'openssl',
        ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${Buffer.from(secret).toString('hex')}`],
        { input: base(request) },
      ).toString();
      expect(`sha256=${said.trim().split('= ')[1] ?? ''}`).to.equal(request.headers['x-svc-signature']);
    });
  }

  it('are not over a body that was parsed and written again, but over the one that was sent', async () => {
    await site().operator.setSecret('a secret');
    await subscribe();
    const request = await send();
    expect(
      isSignedBy('a secret', {
        ...request,
        body: Buffer.from(JSON.stringify(JSON.parse(request.body.toString()), null, 1)),
      }),
    ).to.equal(false);
    expect(isSignedBy('a secret', { ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) })).to.equal(
      false,
    );
  });

  it('of Standard Webhooks are verified by the package of that name, with secrets made here and with own ones', async () => {
    await subscribe({ standardWebhooks: true });
    const generated = await site().operator.generateSecret();
    expect(generated).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const request = await send();
    expect(new Webhook(generated).verify(request.body, request.headers as Record<string, string>)).to.deep.equal(
      JSON.parse(request.body.toString()),
    );
    expect(request.headers).to.include({
      'webhook-id': text(request.headers, 'x-svc-event-id'),
      'webhook-timestamp': text(request.headers, 'x-svc-timestamp'),
    });
    expect(request.headers['webhook-signature']).to.match(/^v1,[A-Za-z0-9+/]{43}=$/);
    // Contract 6.6 takes the secret as it is written, Standard Webhooks the bytes behind its prefix.
    expect(isSignedBy(generated, request)).to.equal(true);
    expect(verifiesStandard('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request)).to.equal(false);
    await site().operator.setSecret('any text');
    expect(verifiesStandard(Buffer.from('any text').toString('base64'), await send('c-2'))).to.equal(true);
  });

  it('of Standard Webhooks are never made with a secret that their receivers cannot decode', async () => {
    const refused = ['whsec_', 'whsec_!!!', `whsec_${'A'.repeat(28)}`, `whsec_${'A'.repeat(33)}`];
    const { id } = await subscribe({ standardWebhooks: true });
    for (const secret of refused) {
      for (const attempt of [
        site().operator.setSecret(secret),
        site().operator.updateEndpoint(id, { secret }),
        subscribe({ standardWebhooks: true, secret }),
      ])
        expect(await failureOf(attempt), secret)
          .to.have.nested.property('data.params.secret')
          .that.includes('24 bytes');
    }
    await site().operator.updateEndpoint(id, { standardWebhooks: false });
    // Contract 6.6 takes any text.
    for (const secret of refused) await site().operator.setSecret(secret);
    expect(await failureOf(site().operator.updateEndpoint(id, { standardWebhooks: true }))).to.have.property(
      'status',
      400,
    );
  });

  it('of Standard Webhooks are sent only where the endpoint asks for them', async () => {
    await site().operator.generateSecret();
    await subscribe();
    expect(Object.keys((await send()).headers).filter((name) => name.startsWith('webhook-'))).to.deep.equal([]);
  });

  it('rotate: ours by the new secret, the Standard one by both until the overlap ends', async () => {
    const old = await site().operator.generateSecret();
    await subscribe({ standardWebhooks: true });
    const fresh = await site().operator.rotateSecret(day);
    const during = await send('c-1');
    expect(text(during.headers, 'webhook-signature').split(' ')).to.have.length(2);
    expect([verifiesStandard(fresh, during), verifiesStandard(old, during)]).to.deep.equal([true, true]);
    expect([isSignedBy(fresh, during), isSignedBy(old, during)]).to.deep.equal([true, false]);
    const { previousSecretUntil } = await site().operator.settings();
    expect(Math.abs((previousSecretUntil ?? 0) - Date.now() - day * 1000)).to.be.lessThan(60_000);
    const last = await site().operator.rotateSecret(0);
    const after = await send('c-2');
    expect([verifiesStandard(last, after), verifiesStandard(fresh, after), verifiesStandard(old, after)]).to.deep.equal(
      [true, false, false],
    );
    expect(text(after.headers, 'webhook-signature').split(' ')).to.have.length(1);
  });

  it('are left out, headers and all, while there is no secret and after it was cleared', async () => {
    const signatureHeaders = ({ headers }: Received): string[] =>
      Object.keys(headers).filter((name) => /signature|webhook-/.test(name));
    await subscribe({ standardWebhooks: true });
    expect(signatureHeaders(await send('c-1'))).to.deep.equal([]);
    await site().operator.generateSecret();
    await site().operator.rotateSecret();
    expect(signatureHeaders(await send('c-2'))).to.have.length(5);
    await site().operator.clearSecret();
    expect(signatureHeaders(await send('c-3'))).to.deep.equal([]);
  });

  it("are by the endpoint's own secret where it has one, and by the common one again when that is taken away", async () => {
    await site().operator.setSecret('common');
    const { id } = await subscribe({ secret: 'its own', standardWebhooks: true });
    const own = await send('c-1');
    expect([isSignedBy('its own', own), isSignedBy('common', own)]).to.deep.equal([true, false]);
    expect(verifiesStandard(Buffer.from('its own').toString('base64'), own)).to.equal(true);
    await site().operator.updateEndpoint(id, { secret: '' });
    expect(isSignedBy('common', await send('c-2'))).to.equal(true);
  });

  it('are over what the filters made of the request', async () => {
    await site().operator.setSecret('a secret');
    await subscribe();
    site().host.hooks.addFilter('svc_event_webhooks_request_args', (args) => ({
      ...args,
      body: `${args.body}\n`,
      headers: { ...args.headers, 'X-SVC-Signature': 'sha256=forged' },
    }));
    const request = await send();
    expect(request.body.at(-1)).to.equal(10);
    expect(isSignedBy('a secret', request)).to.equal(true);
  });

  it('a secret that is blank or too long is refused', async () => {
    for (const secret of ['', '  ', 'x'.repeat(1001)]) {
      const refused = await site()
        .operator.setSecret(secret)
        .then(
          () => null,
          (error: unknown) => error as { status: number; data: unknown },
        );
      expect(refused?.status, secret.slice(0, 5)).to.equal(400);
    }
  });
});
