import { expect } from 'chai';
import { createPluginFolders } from '../../host/log/plugin-folders.ts';

describe('the plugin of an error', () => {
  const folders = createPluginFolders();
  folders.add('orders', '/plugins/orders');
  const withStack = (stack: string): Error => Object.assign(new Error('no'), { stack });

  it('is that of the first file of a plugin in its stack, whatever work it belongs to', () => {
    const error = withStack(
      'Error: no\n    at go (file:///plugins/orders/index.js:1:2)\n    at run (/host/core.ts:1:1)',
    );
    expect(folders.run('other', () => folders.ownerOf(error))).to.equal('orders');
  });

  it('is the one whose work it belongs to, if the stack names no file', async () => {
    const socket = withStack('Error: connect ECONNREFUSED\n    at TCPConnectWrap.afterConnect (node:net:1611:16)');
    expect(folders.ownerOf(socket)).to.equal(null);
    for (const error of ['a text', undefined, socket])
      expect(
        await folders.run('orders', async () => {
          await Promise.resolve();
          return folders.ownerOf(error);
        }),
      ).to.equal('orders');
  });

  it('is unknown, if the stack has only files of the host', () => {
    const error = withStack('Error: no\n    at query (/host/database.ts:1:1)');
    expect(folders.run('orders', () => folders.ownerOf(error))).to.equal(null);
  });

  it('is in a step of its lifecycle until that has ended', async () => {
    let resolve = (): void => undefined;
    const promise = new Promise<void>((done) => (resolve = done));
    const later = folders.runStep('orders', async () => {
      expect(folders.currentStep()).to.equal('orders');
      return { after: promise.then(() => folders.currentStep()) };
    });
    const { after } = await later;
    resolve();
    expect(await after).to.equal(null);
    expect(folders.current()).to.equal(null);
  });
});
