import { expect } from 'chai';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { bytesListener, runWithinLimit, type EndedExchange } from '../../../plugins/svc/kit/time-limit.ts';

describe('limits of time of an exchange', () => {
  /** Starts an exchange of at most ten minutes whose response begins within 60 s and never stops for 30 s. */
  function start() {
    const clock = createFakeClock();
    let piece = (): void => undefined;
    let finish = (): void => undefined;
    const outcome = runWithinLimit(
      { clock, timeout: 600_000, firstByte: 60_000, idle: 30_000 },
      (signal) =>
        new Promise<string>((resolve, reject) => {
          piece = bytesListener()!;
          finish = () => resolve('done');
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      { ended: (init) => Object.assign(new Error(init.message), { init }), failed: (thrown) => thrown },
    ).catch((error: Error & { init: EndedExchange }) => [error.message, error.init.kind, error.init.status]);
    return { clock, outcome, piece: () => piece(), finish: () => finish() };
  }

  it('end one whose response does not begin', async () => {
    const { clock, outcome } = start();
    await clock.advance(60_000);
    expect(await outcome).to.deep.equal(['it did not respond in time.', 'timeout', null]);
  });

  it('let a response go on that sends a piece now and then', async () => {
    const { clock, outcome, piece, finish } = start();
    await clock.advance(59_000);
    for (let count = 0; count < 15; count += 1) {
      piece();
      await clock.advance(29_000);
    }
    finish();
    expect(await outcome).to.equal('done');
  });

  it('end one whose response stops', async () => {
    const { clock, outcome, piece } = start();
    await clock.advance(1000);
    piece();
    await clock.advance(20_000);
    piece();
    await clock.advance(30_000);
    expect(await outcome).to.deep.equal(['its response stopped for 30 seconds.', 'timeout', 200]);
  });

  it('end one whose response does not end', async () => {
    const { clock, outcome, piece } = start();
    for (let count = 0; count < 30; count += 1) {
      piece();
      await clock.advance(20_000);
    }
    expect(await outcome).to.deep.equal(['its response took longer than 600 seconds.', 'timeout', 200]);
  });
});
