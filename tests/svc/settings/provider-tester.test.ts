import { expect } from 'chai';
import { createModelLists, modelsOfKind } from '../../../plugins/svc/settings/model-lists.ts';
import { createProviderTester, type ProviderProbe } from '../../../plugins/svc/settings/provider-tester.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

const works: ProviderProbe = {
  ok: true,
  models: [{ id: 'b' }, { id: 'a', kinds: ['image'] }, { id: 'b' }],
  milliseconds: 12,
  message: 'Works, 2 models, 12 ms.',
};
const fails: ProviderProbe = { ok: false, models: [], milliseconds: 3, message: 'Acme refused the saved credentials.' };
const testing = (standIn: StandIn, probe: ProviderProbe) =>
  createProviderTester({ lists: createModelLists(standIn), probe: async () => probe });

describe('the test of a provider', () => {
  it('remembers the models it found, each once, with the time, to choose from', async () => {
    const standIn = createStandIn();
    const tester = testing(standIn, works);
    expect(await tester.models('acme')).to.deep.equal({ syncedAt: null, models: [] });
    expect(await tester.test('acme')).to.equal(works);
    expect(await tester.models('acme')).to.deep.equal({
      syncedAt: standIn.clock.now(),
      models: [{ id: 'a', kinds: ['image'] }, { id: 'b' }],
    });
  });

  it('keeps them when a later test fails', async () => {
    const standIn = createStandIn();
    await testing(standIn, works).test('acme');
    const tester = testing(standIn, fails);
    expect((await tester.test('acme')).ok).to.equal(false);
    expect((await tester.models('acme')).models.length).to.equal(2);
  });

  it('takes a list of another form for none', async () => {
    const standIn = createStandIn();
    await standIn.options.setTransient('svc_models_acme', ['a', 'b']);
    expect(await testing(standIn, works).models('acme')).to.deep.equal({ syncedAt: null, models: [] });
  });
});

describe('models by what they make', () => {
  const of = (kinds: Parameters<typeof modelsOfKind>[0]['models']) => ({
    text: modelsOfKind({ models: kinds }, 'text'),
    embedding: modelsOfKind({ models: kinds }, 'embedding'),
    image: modelsOfKind({ models: kinds }, 'image'),
  });

  it('are those that say so; what says nothing is offered as text, and for whatever nothing else is said to make', () => {
    expect(
      of([{ id: 'chat' }, { id: 'vector', kinds: ['embedding'] }, { id: 'both', kinds: ['text', 'image'] }]),
    ).to.deep.equal({
      text: ['chat', 'both'],
      embedding: ['vector'],
      image: ['both'],
    });
    expect(of([{ id: 'a' }, { id: 'b' }])).to.deep.equal({
      text: ['a', 'b'],
      embedding: ['a', 'b'],
      image: ['a', 'b'],
    });
  });
});
