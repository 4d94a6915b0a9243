import { expect } from 'chai';
import {
  asRecord,
  clientNetwork,
  createMinuteCounter,
  createMutex,
  errorText,
  isRecord,
  isSameSecret,
  parseId,
  readRetryAfter,
  withoutUndefined,
} from '#plugin-api';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { failureOf } from '../helpers/failure-of.ts';

describe('a mutex', () => {
  it('runs work of one key in sequence, even after a failure, and other keys meanwhile', async () => {
    const mutex = createMutex();
    const log: string[] = [];
    let release: () => void = () => undefined;
    const first = mutex.runExclusive('a', async () => {
      await new Promise<void>((resolve) => (release = resolve));
      log.push('first');
      throw new Error('broken');
    });
    const second = mutex.runExclusive('a', async () => void log.push('second'));
    await mutex.runExclusive('b', async () => void log.push('other'));
    expect([mutex.isBusy('a'), mutex.isBusy('b')]).to.deep.equal([true, false]);
    release();
    expect(errorText(await failureOf(first))).to.equal('broken');
    await second;
    expect(log).to.deep.equal(['other', 'first', 'second']);
    expect(mutex.isBusy('a')).to.equal(false);
  });

  it('is not busy in what runs after the last work', async () => {
    const mutex = createMutex();
    let afterwards: boolean | null = null;
    await mutex
      .runExclusive('a', async () => undefined)
      .finally(() => {
        afterwards = mutex.isBusy('a');
      });
    expect(afterwards).to.equal(false);
  });
});

describe('a counter of calls in a minute', () => {
  it('counts by key until the minute ends, and many keys together', () => {
    const clock = createFakeClock({ now: Date.UTC(2026, 0, 1, 12, 0, 15) });
    const count = createMinuteCounter({ clock, maxKeys: 2 });
    expect(count('a')).to.deep.equal({ calls: 1, seconds: 45 });
    expect(['a', 'b', 'c', 'd', 'a'].map((key) => count(key).calls)).to.deep.equal([2, 1, 1, 2, 3]);
    clock.jump(45_000);
    expect(count('a')).to.deep.equal({ calls: 1, seconds: 60 });
  });
});

describe('small values', () => {
  it('are told apart and compared', () => {
    expect([{}, [], null, 'x', new Map()].map(isRecord)).to.deep.equal([true, false, false, false, true]);
    expect([{ a: 1 }, ['a'], null, 'a'].map(asRecord)).to.deep.equal([{ a: 1 }, {}, {}, {}]);
    expect(errorText('plain')).to.equal('plain');
    expect([isSameSecret('a', 'a'), isSameSecret('a', 'ab'), isSameSecret('', '')]).to.deep.equal([true, false, true]);
    const bytes = Buffer.from('a');
    expect([isSameSecret(bytes, 'a'), isSameSecret(bytes, Buffer.from('ab'))]).to.deep.equal([true, false]);
    const given = ['7', '007', '2147483647', '2147483648', '-1', '1.5', '', ['7'], undefined];
    expect(given.map((id) => parseId(id))).to.deep.equal([7, 7, 2_147_483_647, 0, 0, 0, 0, 0, 0]);
    expect(parseId('2147483648', Number.MAX_SAFE_INTEGER)).to.equal(2_147_483_648);
    expect(withoutUndefined({ a: 1, b: undefined, c: null, d: '' })).to.deep.equal({ a: 1, c: null, d: '' });
    const waits = [
      { 'Retry-After': '7' },
      { 'retry-after': 1.5 },
      { 'retry-after': 'soon' },
      { other: '1' },
      undefined,
    ];
    expect(waits.map((headers) => readRetryAfter({ headers }))).to.deep.equal([7, 1.5, null, null, null]);
    expect(clientNetwork('::ffff:203.0.113.7')).to.equal('203.0.113.7');
  });
});
