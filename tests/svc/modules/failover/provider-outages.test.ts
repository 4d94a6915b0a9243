import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { createFakeClock } from '../../../../host/testing/fake-clock.ts';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import { createGenerateText } from '../../../../plugins/svc/ai/generate-text.ts';
import { providerFailure } from '../../../../plugins/svc/ai/upstream-failure.ts';
import { noFailover, type Failover } from '../../../../plugins/svc/modules/failover/failover.ts';
import { createProviderOutages } from '../../../../plugins/svc/modules/failover/provider-outages.ts';
import { createWithFailover } from '../../../../plugins/svc/modules/failover/with-failover.ts';
import { ProviderError, type Provider, type ProviderErrorKind } from '../../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { answer, scripted, services } from '../../ai/helpers.ts';

const failed = (kind: ProviderErrorKind, status: number | null): RestError =>
  providerFailure(new ProviderError({ kind, status, message: 'No.' }), { id: 'first', label: 'First' }, 60_000);
const outage = failed('unavailable', 503);

function open() {
  const clock = createFakeClock();
  const outages = createProviderOutages({ clock, log: silentLog });
  const end = (with_: Error | object, model = 'a') =>
    outages
      .watch('text', { provider: 'first', model }, () =>
        with_ instanceof Error ? Promise.reject(with_) : Promise.resolve(with_),
      )
      .catch(() => undefined);
  const isSkipped = (model = 'a') => outages.skipped('text', { provider: 'first', model }) !== null;
  return { clock, outages, end, isSkipped };
}

describe('outages of a provider', () => {
  it('have it skipped after three in a row for 30 seconds, for that use alone', async () => {
    const { clock, outages, end, isSkipped } = open();
    for (const expected of [false, false, true]) {
      await end(outage);
      expect(isSkipped()).to.equal(expected);
    }
    expect(outages.skipped('text', { provider: 'first', model: 'a' })).to.equal(outage);
    expect(outages.skipped('embeddings', { provider: 'first', model: 'a' })).to.equal(null);
    expect(outages.skipped('text', { provider: 'second', model: 'a' })).to.equal(null);
    await clock.advance(29_999);
    expect(isSkipped()).to.equal(true);
    await clock.advance(1);
    expect(isSkipped()).to.equal(false);
  });

  it('end after 30 seconds, whatever the clock of the machine says', async () => {
    for (const jump of [-3_600_000, 3_600_000]) {
      const { clock, end, isSkipped } = open();
      for (let count = 0; count < 3; count += 1) await end(outage);
      clock.jump(jump);
      expect(isSkipped()).to.equal(true);
      await clock.advance(30_000);
      expect(isSkipped()).to.equal(false);
    }
  });

  it('are those of a model, unless the provider was not reached', async () => {
    const timeout = failed('timeout', null);
    const refused = failed('connection', null);
    for (const [failures, others] of [
      [[outage, outage, outage], false],
      [[outage, timeout, timeout], false],
      [[refused, refused, refused], true],
      [[refused, outage, refused, outage], false],
    ] as const) {
      const { clock, end, isSkipped } = open();
      for (const failure of failures) await end(failure);
      expect(isSkipped('b'), failures.join()).to.equal(others);
      await end({ providerId: 'first' }, 'b');
      expect([isSkipped('a'), isSkipped('b')], failures.join()).to.deep.equal([
        failures[1] !== refused && failures[0] !== refused,
        false,
      ]);
      await clock.advance(30_000);
      expect(isSkipped('a')).to.equal(false);
    }
  });

  it('are remembered of so many models only, which callers name', async () => {
    const { clock, end, isSkipped } = open();
    for (let count = 0; count < 3; count += 1) await end(outage, 'early');
    for (let model = 0; model < 1_000; model += 1) await end(outage, String(model));
    expect([isSkipped('early'), clock.pending()]).to.deep.equal([false, 0]);
  });

  it('let one probe through, which decides', async () => {
    for (const [ending, skippedAfter] of [
      [outage, true],
      [{ providerId: 'first' }, false],
      [failed('rejected', 400), false],
    ] as const) {
      const { clock, outages, end, isSkipped } = open();
      for (let count = 0; count < 3; count += 1) await end(outage);
      await clock.advance(30_000);
      let finish: (result: object) => void = () => undefined;
      const probe = outages.watch(
        'text',
        { provider: 'first', model: 'a' },
        () => new Promise<object>((resolve) => (finish = resolve)),
      );
      expect(isSkipped(), 'while the probe runs').to.equal(true);
      finish({ providerId: 'second' });
      await probe;
      expect(isSkipped(), 'a probe that went elsewhere').to.equal(false);
      await end(ending);
      expect(isSkipped()).to.equal(skippedAfter);
      await end(outage);
      expect(isSkipped()).to.equal(skippedAfter);
    }
  });

  for (const [kind, status, counts] of [
    ['connection', null, true],
    ['timeout', null, true],
    ['timeout', 408, true],
    ['unavailable', 500, true],
    ['unavailable', 529, true],
    ['unavailable', 200, false],
    ['rate_limited', 429, false],
    ['auth', 401, false],
    ['rejected', 400, false],
    ['rejected', 402, false],
    ['unreadable', 200, false],
    ['aborted', null, false],
  ] as const)
    it(`are ${counts ? '' : 'not '}what ${kind} ${String(status)} counts as`, async () => {
      const { end, isSkipped } = open();
      for (let count = 0; count < 3; count += 1) await end(failed(kind, status));
      expect(isSkipped()).to.equal(counts);
    });

  it('are ended by any response, but not by calls that reached no provider, or another one', async () => {
    for (const [ending, isSkippedAfter] of [
      [{ providerId: 'first' }, false],
      [failed('rejected', 400), false],
      [failed('aborted', null), true],
      [new RestError({ code: 'rest_svc_budget_exhausted', status: 429, message: 'No.' }), true],
      [new Error('A bug.'), true],
      [{ providerId: 'second' }, true],
    ] as const) {
      const { end, isSkipped } = open();
      await end(outage);
      await end(outage);
      await end(ending);
      await end(outage);
      expect(isSkipped()).to.equal(isSkippedAfter);
    }
  });
});

describe('failover from a provider that is skipped', () => {
  const call = { provider: 'first', model: 'a', messages: [{ role: 'user', content: 'Hi' }] as const };
  const unavailable = new ProviderError({ kind: 'unavailable', status: 503, message: 'busy.' });

  async function opened(failover: Partial<Failover>, others: readonly Error[] = []) {
    const first = scripted(unavailable);
    const second = scripted(...(others.length > 0 ? others : [answer]));
    const named = (id: string, provider: Provider): Provider => ({ ...provider, id, label: id });
    const ai = await services({ providers: [named('first', first), named('second', second)] });
    const withFailover = createWithFailover({
      host: { clock: ai.clock, hooks: createHooks(), log: silentLog },
      failover: {
        get: () =>
          Promise.resolve({ ...noFailover, enabled: true, text: [{ provider: 'second', model: 'b' }], ...failover }),
      },
    });
    const generateText = createGenerateText({ ...ai, withFailover });
    const counts = () => [first.requests.length, second.requests.length];
    return { generateText, counts, clock: ai.clock };
  }

  it('goes to the fallback at once, and back after a probe', async () => {
    const { generateText, counts, clock } = await opened({});
    for (let count = 0; count < 3; count += 1) await generateText(call);
    expect(counts()).to.deep.equal([9, 3]);
    expect(await generateText(call)).to.include({ providerId: 'second' });
    expect(counts()).to.deep.equal([9, 4]);
    await clock.advance(30_000);
    await generateText(call);
    expect(counts()).to.deep.equal([12, 5]);
    await generateText(call);
    expect(counts()).to.deep.equal([12, 6]);
  });

  it('tries it all the same where there is no fallback, or none works', async () => {
    for (const [failover, others] of [
      [{ text: [] }, []],
      [{ enabled: false }, []],
      [{}, [new ProviderError({ kind: 'rejected', status: 400, message: 'no.' })]],
    ] as const) {
      const { generateText, counts } = await opened(failover, others);
      for (let count = 0; count < 4; count += 1)
        expect(await failureOf(generateText(call))).to.include({ message: 'first failed: busy.' });
      expect(counts()[0]).to.equal(12);
    }
  });
});
