import { expect } from 'chai';
import { createFakeClock } from '../../host/testing/fake-clock.ts';

describe('the fake clock', () => {
  it('does not move until advanced', async () => {
    const clock = createFakeClock({ now: 1000 });
    let slept = false;
    const sleeping = clock.sleep(50).then(() => (slept = true));
    await clock.advance(49);
    expect([clock.now(), slept]).to.deep.equal([1049, false]);
    await clock.advance(1);
    await sleeping;
    expect([clock.now(), slept]).to.deep.equal([1050, true]);
  });

  it('runs what falls due in order, each at its own time', async () => {
    const clock = createFakeClock({ now: 0 });
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name}@${clock.now()}`);
    clock.after(30, note('late'));
    clock.after(10, note('early'));
    const stop = clock.every(20, note('tick'));
    await clock.advance(60);
    stop();
    await clock.advance(60);
    expect(seen).to.deep.equal(['early@10', 'tick@20', 'late@30', 'tick@40', 'tick@60']);
    expect(clock.pending()).to.equal(0);
  });

  it('gives up a sleep when its signal is aborted', async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const outcome = clock.sleep(10, controller.signal).catch((error: unknown) => error);
    controller.abort(new Error('enough'));
    expect(await outcome).to.have.property('message', 'enough');
    expect(clock.pending()).to.equal(0);
  });

  it('can let sleeps pass at once while timers wait', async () => {
    const clock = createFakeClock({ now: 0, skipSleeps: true });
    let fired = false;
    clock.after(5000, () => (fired = true));
    await clock.sleep(60_000);
    expect([clock.now(), fired]).to.deep.equal([60_000, false]);
  });
});
