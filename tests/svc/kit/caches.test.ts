import { expect } from 'chai';
import { createClientCache } from '../../../plugins/svc/kit/caches.ts';

describe('Clients of the SDKs', () => {
  it('are built once per connection, and the least recently used one is removed first', async () => {
    const cache = createClientCache<string>(2);
    const built: string[] = [];
    const get = (name: string): Promise<string> =>
      cache.get(globalThis.fetch, [name], () => {
        built.push(name);
        return Promise.resolve(name);
      });
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) expect(await get(name)).to.equal(name);
    expect(built).to.deep.equal(['a', 'b', 'c', 'b']);
  });
});
