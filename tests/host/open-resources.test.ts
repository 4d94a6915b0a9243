import { Server } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { watchResources, type OpenResources } from '../../host/open-resources.ts';

describe('what a plugin leaves open', () => {
  const names = ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] as const;
  const globals = Object.fromEntries(names.map((name) => [name, globalThis[name]]));
  const { listen } = Server.prototype;
  const capture = Error.captureStackTrace.bind(Error);
  let captured: number;
  let resources: OpenResources;

  before(() => {
    const position = 'index.js:4:1';
    resources = watchResources(
      { current: () => 'svc', currentStep: () => 'svc', findFrame: () => ({ slug: 'svc', position }) },
      () => undefined,
    );
    resources.watch('svc');
    Error.captureStackTrace = (target, starter) => {
      captured += 1;
      capture(target, starter);
    };
  });

  beforeEach(() => {
    captured = 0;
  });

  after(() => {
    Object.assign(globalThis, globals);
    Server.prototype.listen = listen;
    Error.captureStackTrace = capture;
  });

  it('is found by one stack of each timer', () => {
    const timer = setTimeout(() => undefined, 60_000);
    expect([
      captured,
      resources
        .take('svc')()
        .map(({ kind }) => kind),
    ]).to.deep.equal([1, ['timer']]);
    clearTimeout(timer);
    expect(resources.take('svc')()).to.deep.equal([]);
  });

  it('costs nothing for timers of the clock, which keep no process alive', async () => {
    const clock = createSystemClock();
    clock.after(60_000, () => undefined)();
    clock.every(60_000, () => undefined)();
    await clock.sleep(1);
    expect(captured).to.equal(0);
  });
});
