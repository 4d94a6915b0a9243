import { expect } from 'chai';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import { createFakeClock } from '../../../../host/testing/fake-clock.ts';
import { createEmbed } from '../../../../plugins/svc/ai/embed.ts';
import { createGenerateText } from '../../../../plugins/svc/ai/generate-text.ts';
import { createWithFailover, type FailedCall } from '../../../../plugins/svc/modules/failover/with-failover.ts';
import { ProviderError, type Provider, type TextResult } from '../../../../plugins/svc/providers/provider.ts';
import { noFailover, type Failover } from '../../../../plugins/svc/modules/failover/failover.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { answer, scripted, services } from '../../ai/helpers.ts';

const unavailable = new ProviderError({ kind: 'unavailable', status: 503, message: 'busy.' });
const rejected = new ProviderError({ kind: 'rejected', status: 400, message: 'no such thing.' });
const call = { provider: 'first', model: 'a', messages: [{ role: 'user', content: 'Hi' }] as const };

function named(id: string, provider: Provider): Provider {
  return { ...provider, id, label: id.toUpperCase() };
}

/** The same provider, which reads images. */
const seeing = (provider: Provider): Provider =>
  provider.text ? { ...provider, text: { ...provider.text, sees: () => true } } : provider;

async function open(
  steps: Record<string, readonly (TextResult | Error)[]>,
  failover: Partial<Failover> = {},
  seers: readonly string[] = [],
) {
  const made = Object.entries(steps).map(([id, script]) => ({ id, provider: scripted(...script) }));
  const hooks = createHooks();
  const all: Failover = {
    ...noFailover,
    enabled: true,
    text: [
      { provider: 'second', model: 'b' },
      { provider: 'third', model: 'c' },
    ],
    ...failover,
  };
  const ai = await services({
    providers: made.map(({ id, provider }) => named(id, seers.includes(id) ? seeing(provider) : provider)),
  });
  const asked = () => made.flatMap(({ id, provider }) => provider.requests.map(({ model }) => `${id}/${model}`));
  const withFailover = createWithFailover({
    host: { clock: ai.clock, hooks, log: silentLog },
    failover: { get: () => Promise.resolve(all) },
  });
  return { generateText: createGenerateText({ ...ai, withFailover }), asked, hooks, clock: ai.clock };
}

describe('Failover', () => {
  it('asks those that are named, in order, and the answer names the one that gave it', async () => {
    const { generateText, asked } = await open({ first: [unavailable], second: [unavailable], third: [answer] });
    expect(await generateText(call)).to.include({ content: 'Bonjour.', providerId: 'third', provider: 'THIRD' });
    expect(asked()).to.deep.equal(['first/a', 'first/a', 'first/a', 'second/b', 'second/b', 'second/b', 'third/c']);
  });

  it('skips models that cannot read the images of the request', async () => {
    const images = [{ bytes: Buffer.from('image'), mimeType: 'image/png' }];
    const withImage = { ...call, messages: [{ role: 'user', content: 'What is it?', images }] as const };
    const steps = { first: [unavailable], second: [answer], third: [answer] };
    const some = await open(steps, {}, ['first', 'third']);
    expect(await some.generateText(withImage)).to.include({ providerId: 'third' });
    expect(some.asked()).to.deep.equal(['first/a', 'first/a', 'first/a', 'third/c']);
    const one = await open(steps, {}, ['first']);
    expect(await failureOf(one.generateText(withImage))).to.include({ message: 'FIRST failed: busy.' });
    const none = await open(steps, {}, ['second', 'third']);
    expect(await failureOf(none.generateText(withImage))).to.include({ code: 'rest_svc_model_cannot_see' });
    expect(none.asked()).to.deep.equal([]);
  });

  it('throws the first failure where all fail', async () => {
    const { generateText } = await open({ first: [unavailable], second: [new Error('broken')], third: [rejected] });
    expect(await failureOf(generateText(call))).to.include({
      code: 'rest_svc_provider_error',
      message: 'FIRST failed: busy.',
    });
  });

  it('is off by default, and for REST calls until that is switched on', async () => {
    const ofRest = { ...call, origin: { module: 'rest', route: '/generate', botId: null } };
    const off = await open({ first: [unavailable], second: [answer] }, { enabled: false });
    expect(await failureOf(off.generateText(call))).to.include({ code: 'rest_svc_provider_error' });
    const on = await open({ first: [unavailable], second: [answer] });
    on.hooks.addFilter('svc_failover_targets', () => [{ provider: 'second', model: 'b' }]);
    expect(await failureOf(on.generateText(ofRest))).to.include({ code: 'rest_svc_provider_error' });
    const rest = await open({ first: [unavailable], second: [answer] }, { rest: true });
    expect(await rest.generateText(ofRest)).to.include({ providerId: 'second' });
  });

  it('asks another provider where one has retired the model', async () => {
    const retired = new ProviderError({ kind: 'rejected', status: 404, message: 'no such model.' });
    const { generateText, asked } = await open({ first: [retired], second: [answer] });
    expect(await generateText(call)).to.include({ providerId: 'second' });
    expect(asked()).to.deep.equal(['first/a', 'second/b']);
  });

  it('is of no use where the request itself is refused', async () => {
    const { generateText, asked } = await open({ first: [rejected], second: [answer] });
    expect(await failureOf(generateText(call))).to.include({ code: 'rest_svc_provider_rejected' });
    expect(asked()).to.deep.equal(['first/a']);
  });

  for (const kind of ['rate_limited', 'timeout', 'auth'] as const) {
    it(`mends ${kind}`, async () => {
      const { generateText } = await open({
        first: [new ProviderError({ kind, status: null, message: 'no.' })],
        second: [answer],
      });
      expect(await generateText(call)).to.include({ providerId: 'second' });
    });
  }

  it('never begins anew once a piece was streamed', async () => {
    const provider = scripted(answer);
    const broken: Provider = {
      ...named('first', provider),
      text: {
        ...provider.text!,
        stream: (_request, _connection, hand) => {
          hand('Bon');
          return Promise.reject(unavailable);
        },
      },
    };
    const other = scripted(answer);
    const ai = await services({
      providers: [broken, named('second', other)],
    });
    const withFailover = createWithFailover({
      host: { clock: createFakeClock(), hooks: createHooks(), log: silentLog },
      failover: {
        get: () => Promise.resolve({ ...noFailover, enabled: true, text: [{ provider: 'second', model: 'b' }] }),
      },
    });
    const pieces: string[] = [];
    expect(
      await failureOf(
        createGenerateText({ ...ai, withFailover })({ ...call, onText: (piece) => void pieces.push(piece) }),
      ),
    ).to.include({ code: 'rest_svc_provider_error' });
    expect([pieces, other.requests]).to.deep.equal([['Bon'], []]);
  });

  it('asks whom a filter names', async () => {
    const { generateText, hooks, asked } = await open({ first: [unavailable], second: [answer], third: [answer] });
    const failed: FailedCall[] = [];
    hooks.addFilter('svc_failover_targets', (targets, one: FailedCall) => {
      failed.push(one);
      return targets.filter(({ provider }) => provider === 'third');
    });
    expect(await generateText(call)).to.include({ providerId: 'third' });
    expect(failed).to.have.length(1);
    expect(failed[0]).to.include({ use: 'text', provider: 'first', model: 'a' });
    expect(asked()).not.to.include('second/b');
  });
});

describe('Failover of embeddings', () => {
  function vectors(id: string, give: number | Error): Provider & { calls: number } {
    const provider = {
      ...named(id, scripted(answer)),
      calls: 0,
      embeddings: {
        limits: { inputs: 100 },
        embed: async ({ input, model }: { readonly input: readonly string[]; readonly model: string }) => {
          provider.calls += 1;
          if (give instanceof Error) throw give;
          return {
            embeddings: input.map(() => Array.from({ length: give }, () => 1)),
            usage: null,
            model,
            ignored: [],
          };
        },
      },
    };
    return provider;
  }

  async function embedding(providers: Provider[], list: Failover['embeddings']) {
    const withFailover = createWithFailover({
      host: { clock: createFakeClock(), hooks: createHooks(), log: silentLog },
      failover: { get: () => Promise.resolve({ ...noFailover, enabled: true, embeddings: list }) },
    });
    return createEmbed({ ...(await services({ providers })), withFailover });
  }

  it('asks those alone that give as many dimensions as the model that failed', async () => {
    const other = vectors('second', 4);
    const embed = await embedding(
      [vectors('first', unavailable), other, vectors('third', 3)],
      [
        { provider: 'first', model: 'm', dimensions: 3 },
        { provider: 'second', model: 'm', dimensions: 4 },
        { provider: 'third', model: 'm', dimensions: 3 },
      ],
    );
    expect(await embed({ provider: 'first', model: 'm', input: ['a'] })).to.include({ providerId: 'third' });
    expect(other.calls).to.equal(0);
    expect(await failureOf(embed({ provider: 'first', model: 'unknown', input: ['a'] }))).to.include({
      code: 'rest_svc_provider_error',
    });
  });

  it('refuses vectors of another length than the list says', async () => {
    const embed = await embedding(
      [vectors('first', unavailable), vectors('second', 4)],
      [{ provider: 'second', model: 'm', dimensions: 3 }],
    );
    expect(await failureOf(embed({ provider: 'first', model: 'm', input: ['a'], dimensions: 3 }))).to.include({
      message: 'FIRST failed: busy.',
    });
  });
});
