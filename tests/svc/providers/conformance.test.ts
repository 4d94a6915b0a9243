import { expect } from 'chai';
import type { Provider } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry, type ProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { titleOf } from '../../conformance/upstream.ts';
import { describeTextProvider } from '../../conformance/text-provider.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';

describe('Text providers', () => {
  let registry: ProviderRegistry;
  before(async () => {
    registry = createProviderRegistry({ hooks: createHooks() });
  });
  const find = (id: string): Provider => {
    const provider = registry.get(id);
    if (!provider) throw new Error(`There is no provider ${id}.`);
    return provider;
  };

  it('are the eight of contract 4.2, by the names of D6', () => {
    const names = registry.all().map(({ id, label }) => `${id} ${label}`);
    expect(names).to.deep.equal([
      'openai OpenAI',
      'azure Azure',
      'google Google',
      'openrouter OpenRouter',
      'claude Claude',
      'deepseek DeepSeek',
      'xai xAI',
      'ollama Ollama',
    ]);
  });

  it('are all put to the conformance suite', () => {
    expect(new Set(upstreams.map(({ id }) => id))).to.deep.equal(new Set(registry.all().map(({ id }) => id)));
  });

  for (const upstream of upstreams) describeTextProvider(titleOf(upstream), upstream, () => find(upstream.id));
});
