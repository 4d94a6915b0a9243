import { expect } from 'chai';
import { createProviderTester, type ProviderProbe } from '../../../plugins/svc/settings/provider-tester.ts';
import { createStandIn } from './stand-in.ts';

describe('the test of a provider', () => {
  const works: ProviderProbe = { ok: true, models: [{ id: 'b' }, { id: 'a' }, { id: 'a' }], milliseconds: 12, message: 'Works, 2 models, 12 ms.' };
  const fails: ProviderProbe = { ok: false, models: [], milliseconds: 3, message: 'Acme refused the saved credentials.' };

  it('remembers the models it found, each once, to choose from', async () => {
    const { options } = createStandIn();
    const tester = createProviderTester({ options, probe: async () => works });
    expect(await tester.models('acme')).to.deep.equal([]);
    expect(await tester.test('acme')).to.equal(works);
    expect(await tester.models('acme')).to.deep.equal(['a', 'b']);
  });

  it('keeps them when a later test fails', async () => {
    const { options } = createStandIn();
    await createProviderTester({ options, probe: async () => works }).test('acme');
    const tester = createProviderTester({ options, probe: async () => fails });
    expect((await tester.test('acme')).ok).to.equal(false);
    expect(await tester.models('acme')).to.deep.equal(['a', 'b']);
  });
});
