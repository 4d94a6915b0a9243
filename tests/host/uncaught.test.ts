import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { watchUncaught } from '../../host/uncaught.ts';

/** A process that records how it is ended. */
function fakeProcess() {
  const codes: number[] = [];
  return Object.assign(new EventEmitter(), { codes, exit: (code: number) => void codes.push(code) });
}

describe('a handler of uncaught errors that fails itself', () => {
  const watch = (): ReturnType<typeof fakeProcess> => {
    const watched = fakeProcess();
    watchUncaught({
      config: { logLevel: 'silent' },
      pluginFolders: {
        ownerOf: () => {
          throw new SyntaxError('Regular expression too large');
        },
      },
      starts: { begin: () => undefined },
      process: watched,
    });
    return watched;
  };

  it('ends the process for an exception, without another uncaught error', async () => {
    const watched = watch();
    watched.emit('uncaughtException', new Error('first'));
    await Promise.resolve();
    await Promise.resolve();
    expect(watched.codes).to.deep.equal([1]);
  });

  it('ends the process for a rejection, without another uncaught error', () => {
    const watched = watch();
    watched.emit('unhandledRejection', new Error('first'));
    expect(watched.codes).to.deep.equal([1]);
  });
});
