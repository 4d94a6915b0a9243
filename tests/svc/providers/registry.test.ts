import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import type { Provider } from '../../../plugins/svc/providers/provider.ts';
import { createVectorStoreRegistry } from '../../../plugins/svc/vector-stores/registry.ts';

const other: Provider = {
  id: 'other',
  label: 'Other',
  settings: { type: 'object', properties: {} },
  required: [],
  listModels: () => Promise.resolve([]),
};

describe('The provider registry', () => {
  it('lets other plugins add a provider and take it away while it runs', async () => {
    const hooks = createHooks();
    const registry = createProviderRegistry({ hooks });
    const undo = hooks.addFilter('svc_providers', (providers) => [...providers, other]);
    expect(registry.get('other')).to.equal(other);
    undo();
    expect(registry.get('other')).to.equal(undefined);
  });

  it('lists every provider and vector store that has a file', async () => {
    const idsIn = async (folder: string, kind: string): Promise<string[]> =>
      (await readdir(new URL(`../../../plugins/svc/${folder}`, import.meta.url))).flatMap(
        (file) => new RegExp(`^(\\w+)\\.${kind}\\.ts$`).exec(file)?.[1] ?? [],
      );
    const hooks = createHooks();
    const providers = createProviderRegistry({ hooks });
    const stores = createVectorStoreRegistry({ hooks });
    expect(providers.all().map(({ id }) => id)).to.have.members(await idsIn('providers', 'provider'));
    expect(stores.all().map(({ id }) => id)).to.have.members(await idsIn('vector-stores', 'store'));
  });

  it('keeps the first of two providers with one id, and takes nothing that is no provider', async () => {
    const hooks = createHooks();
    const registry = createProviderRegistry({ hooks });
    hooks.addFilter('svc_providers', (providers) => [
      ...providers,
      { ...other, id: 'openai' },
      {} as Provider,
      { ...other, id: 'Not an id' },
    ]);
    expect(registry.all()).to.have.length(8);
    expect(registry.get('openai')?.label).to.equal('OpenAI');
  });

  it('warns the plugin whose provider does not fit, with the rule', async () => {
    const hooks = createHooks();
    const registry = createProviderRegistry({ hooks });
    const warnings: string[] = [];
    hooks.addAction('plugin_warning', (slug, message) => void warnings.push(`${slug}: ${message}`));
    const undo = hooks
      .forOwner('echo')
      .addFilter('svc_providers', (providers) => [
        { ...other, id: 'openai' },
        ...providers,
        { ...other, id: 'echo-cloud' },
        { ...other, label: undefined } as unknown as Provider,
      ]);
    expect([registry.get('openai')?.label, registry.all().length]).to.deep.equal(['Other', 8]);
    const begin = "echo: In the filter 'svc_providers', the provider";
    expect(warnings).to.deep.equal([
      `${begin} 'openai' is left out: another provider before it has this id.`,
      `${begin} 'echo-cloud' is left out: its id must have lower-case letters and digits alone.`,
      `${begin} 'other' is left out: it needs a label, which is its name for people.`,
      `${begin} 'openai' replaces that of the service.`,
    ]);
    undo();
    hooks.forOwner('one').addFilter('svc_providers', (providers) => [...providers, { ...other, id: 'A' }]);
    hooks.forOwner('two').addFilter('svc_providers', (providers) => providers);
    registry.all();
    expect(warnings.slice(4).map((text) => text.replace(/ In the filter.*alone\./, ''))).to.deep.equal([
      "one: (one of 'one', 'two' returned it)",
      "two: (one of 'one', 'two' returned it)",
    ]);
  });

  it('warns the plugin whose vector store does not fit, and one of nothing at all', () => {
    const hooks = createHooks();
    const registry = createVectorStoreRegistry({ hooks });
    const warnings: string[] = [];
    hooks.addAction('plugin_warning', (slug, message) => void warnings.push(`${slug}: ${message}`));
    hooks
      .forOwner('echo')
      .addFilter('svc_vector_stores', (stores) => [...stores, null as never, { ...other, label: 'Echo' } as never]);
    expect(registry.all().map(({ id }) => id)).to.deep.equal(['pinecone', 'qdrant', 'chroma', 'local']);
    expect(warnings).to.deep.equal([
      "echo: In the filter 'svc_vector_stores', the vector store 'undefined' is left out: " +
        'its id must have lower-case letters and digits alone.',
      "echo: In the filter 'svc_vector_stores', the vector store 'other' is left out: it needs a function 'open'.",
    ]);
  });

  it('offers none when a filter answers something else than a list', async () => {
    const hooks = createHooks();
    const registry = createProviderRegistry({ hooks });
    hooks.addFilter('svc_providers', () => null as unknown as Provider[]);
    expect(registry.all()).to.deep.equal([]);
  });

  it('marks every key as a secret, and describes every field', async () => {
    const registry = createProviderRegistry({ hooks: createHooks() });
    for (const { id, settings, required } of registry.all()) {
      expect(settings.properties['api_key']?.writeOnly, id).to.equal(true);
      for (const field of Object.values(settings.properties))
        expect(field.title && field.description, id).to.be.a('string');
      for (const name of required) expect(settings.properties, id).to.have.property(name);
    }
  });
});
