import { expect } from 'chai';
import { createCountCache } from '../../host/content/count-cache.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { until } from '../helpers/until.ts';

describeDialects('the counts of large tables', (open) => {
  async function openNode(least = 1) {
    const database = await open();
    const counts = createCountCache(database, least);
    await counts.follow();
    let reads = 0;
    const get = async (value = 5): Promise<readonly [value: number, reads: number]> => {
      const found = await counts.get('posts', 'post', async () => {
        reads += 1;
        return value;
      });
      return [found, reads];
    };
    return { database, counts, get };
  }

  it('are read once until a write, on other nodes too', async () => {
    const [one, other] = [await openNode(), await openNode()];
    for (const node of [one, other]) {
      expect(await node.get(5)).to.deep.equal([5, 1]);
      expect(await node.get(6)).to.deep.equal([5, 1]);
    }
    await one.counts.changed('terms');
    expect(await one.get(6)).to.deep.equal([5, 1]);
    await one.counts.changed('posts');
    expect(await one.get(6)).to.deep.equal([6, 2]);
    await until('the other node reads again', async () => (await other.get(6))[0] === 6);
  });

  it('are read again when a write commits, and not when it is rolled back', async () => {
    const { database, counts, get } = await openNode();
    await get(5);
    const failing = database.transaction(async () => {
      await counts.changed('posts');
      // What the transaction wrote is counted, but not remembered.
      expect(await get(6)).to.deep.equal([6, 2]);
      throw new Error('no');
    });
    expect(await failureOf(failing)).to.be.an('error');
    expect(await get(6)).to.deep.equal([5, 2]);
    await database.transaction(() => counts.changed('posts'));
    expect(await get(7)).to.deep.equal([7, 3]);
  });

  it('read before a write, and finished after it, are not kept', async () => {
    const { counts, get } = await openNode();
    let finish = (_: number): void => undefined;
    const reading = counts.get('posts', 'post', () => new Promise<number>((resolve) => (finish = resolve)));
    await counts.changed('posts');
    finish(5);
    expect(await reading).to.equal(5);
    expect(await get(6)).to.deep.equal([6, 1]);
  });

  it('are read each time where they are small, or after an error', async () => {
    const { counts, get } = await openNode(10);
    expect(await get(9)).to.deep.equal([9, 1]);
    expect(await get(8)).to.deep.equal([8, 2]);
    const failed = counts.get('comments', 'hold', () => Promise.reject(new Error('no')));
    expect(await failureOf(failed)).to.be.an('error');
    const byState = await counts.get(
      'comments',
      'hold',
      async () =>
        new Map([
          ['hold', 6],
          ['spam', 5],
        ]),
    );
    expect(byState.get('spam')).to.equal(5);
    expect(await counts.get('comments', 'hold', async () => new Map<string, number>())).to.equal(byState);
  });
});
