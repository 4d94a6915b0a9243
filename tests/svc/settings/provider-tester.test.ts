import { expect } from 'chai';
import { createModelLists, modelsOfKind } from '../../../plugins/svc/settings/model-lists.ts';
import { createProviderTester, type ProviderProbe } from '../../../plugins/svc/settings/provider-tester.ts';
import { createFakeSettings, type FakeSettings } from './fake-settings.ts';

const works: ProviderProbe = {
  ok: true,
  models: [{ id: 'b' }, { id: 'a', kinds: ['image'] }, { id: 'b' }],
  milliseconds: 12,
  message: 'Works, 2 models, 12 ms.',
};
const fails: ProviderProbe = { ok: false, models: [], milliseconds: 3, message: 'Acme refused the saved credentials.' };
const testing = (fake: FakeSettings, probe: ProviderProbe) =>
  createProviderTester({ lists: createModelLists(fake), probe: async () => probe });

describe('the test of a provider', () => {
  it('stores the models it found, each once, with the time', async () => {
    const fake = createFakeSettings();
    const tester = testing(fake, works);
    expect(await tester.models('acme')).to.deep.equal({ syncedAt: null, models: [] });
    expect(await tester.test('acme')).to.equal(works);
    expect(await tester.models('acme')).to.deep.equal({
      syncedAt: fake.clock.now(),
      models: [{ id: 'a', kinds: ['image'] }, { id: 'b' }],
    });
  });

  it('keeps them when a later test fails', async () => {
    const fake = createFakeSettings();
    await testing(fake, works).test('acme');
    const tester = testing(fake, fails);
    expect((await tester.test('acme')).ok).to.equal(false);
    expect((await tester.models('acme')).models.length).to.equal(2);
  });

  it('treats an invalid list as empty', async () => {
    const fake = createFakeSettings();
    await fake.options.setTransient('svc_models_acme', ['a', 'b']);
    expect(await testing(fake, works).models('acme')).to.deep.equal({ syncedAt: null, models: [] });
  });
});

describe('models by kind', () => {
  const of = (kinds: Parameters<typeof modelsOfKind>[0]['models']) => ({
    text: modelsOfKind({ models: kinds }, 'text'),
    embedding: modelsOfKind({ models: kinds }, 'embedding'),
    image: modelsOfKind({ models: kinds }, 'image'),
  });

  it('are those with the kind; a model without kinds counts as text, and as any kind that no other model has', () => {
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
