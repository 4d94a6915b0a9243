import { expect } from 'chai';
import { failoverCommands } from '../../../../plugins/svc/modules/failover/failover-commands.ts';
import { noFailover, type Failover } from '../../../../plugins/svc/modules/failover/failover.ts';
import { failureOf } from '../../../helpers/failure-of.ts';

describe('svc failover set', () => {
  it('refuses unknown members, of the object and of an entry, and saves nothing', async () => {
    const saved: Partial<Failover>[] = [];
    const failover = {
      get: () => Promise.resolve(noFailover),
      save: (changes: Partial<Failover>) => {
        saved.push(changes);
        return Promise.resolve(noFailover);
      },
    };
    const command = failoverCommands({ failover }).find(({ name }) => name === 'svc failover set')!;
    const set = async (value: object): Promise<unknown> => command.run({ args: [JSON.stringify(value)], flags: {} });
    const target = { provider: 'claude', model: 'claude-sonnet-5-5' };
    expect(String(await failureOf(set({ texts: [target] })))).to.contain('texts is unknown');
    expect(String(await failureOf(set({ enabled: true, text: [target] })))).to.contain('svc failover on');
    expect(String(await failureOf(set({ text: [{ ...target, modle: 'x' }] })))).to.contain('text[0].modle is unknown');
    expect(String(await failureOf(set({ text: [{ ...target, dimensions: 3 }] })))).to.contain('dimensions');
    expect(saved).to.deep.equal([]);
    await set({ text: [target], embeddings: [{ ...target, dimensions: 3 }] });
    expect(saved).to.have.length(1);
  });
});
