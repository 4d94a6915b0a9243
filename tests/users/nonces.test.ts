import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { createNonces } from '../../host/users/nonces.ts';

const hour = 3_600_000;

describe('nonces', () => {
  const make = (key = 1) => {
    // On the border of two halves of a life.
    const clock = createFakeClock({ now: 40_000 * 12 * hour + 1 });
    const hooks = createHooks();
    return { clock, hooks, nonces: createNonces({ key: () => Buffer.alloc(32, key), clock, hooks }) };
  };
  const user = { id: 7 };

  it('are good for one action, user and session', () => {
    const { nonces } = make();
    const nonce = nonces.create('save', user, 'session');
    expect(nonce).to.match(/^[\w-]{10}$/);
    expect(nonces.verify({ nonce, action: 'save', user, sessionId: 'session' })).to.equal(1);
    for (const other of [
      { action: 'delete' },
      { user: { id: 8 } },
      { sessionId: 'other' },
      { nonce: '' },
      { nonce: `${nonce}x` },
      { nonce: 'é'.repeat(5) },
    ]) {
      expect(
        nonces.verify({ nonce, action: 'save', user, sessionId: 'session', ...other }),
        JSON.stringify(other),
      ).to.equal(false);
    }
  });

  it('are in the first half of their life, then in the second, then gone', () => {
    const { nonces, clock } = make();
    const nonce = nonces.create('save', user, 's');
    const verify = () => nonces.verify({ nonce, action: 'save', user, sessionId: 's' });
    clock.jump(12 * hour - 2);
    expect(verify()).to.equal(1);
    clock.jump(2);
    expect(verify()).to.equal(2);
    clock.jump(12 * hour - 2);
    expect(verify()).to.equal(2);
    clock.jump(2);
    expect(verify()).to.equal(false);
  });

  it('are the same on all nodes with the same key, and nothing with another', () => {
    const nonce = make().nonces.create('save', user, 's');
    expect(make().nonces.verify({ nonce, action: 'save', user, sessionId: 's' })).to.equal(1);
    expect(make(2).nonces.verify({ nonce, action: 'save', user, sessionId: 's' })).to.equal(false);
  });

  it('live as long as the filter nonce_life says', () => {
    const { nonces, clock, hooks } = make();
    hooks.addFilter('nonce_life', () => 60);
    const nonce = nonces.create('save', user, 's');
    clock.jump(61_000);
    expect(nonces.verify({ nonce, action: 'save', user, sessionId: 's' })).to.equal(false);
  });
});
