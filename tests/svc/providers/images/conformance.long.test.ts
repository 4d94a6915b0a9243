import { expect } from 'chai';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import type { Provider } from '../../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry, type ProviderRegistry } from '../../../../plugins/svc/providers/registry.ts';
import { imageUpstreams } from '../../../conformance/image-upstreams.ts';
import { describeImageProvider } from '../../../conformance/image-provider.ts';

describe('Image providers', () => {
  let registry: ProviderRegistry;
  before(async () => {
    registry = createProviderRegistry({ hooks: createHooks() });
  });
  const find = (id: string): Provider => {
    const provider = registry.get(id);
    if (!provider) throw new Error(`There is no provider ${id}.`);
    return provider;
  };

  it('are all put to the conformance suite', () => {
    const drawing = registry
      .all()
      .filter(({ images }) => images !== undefined)
      .map(({ id }) => id);
    expect(drawing).to.deep.equal(['openai', 'azure', 'google', 'openrouter', 'xai']);
    expect(new Set(imageUpstreams.map(({ id }) => id))).to.deep.equal(new Set(drawing));
  });

  for (const upstream of imageUpstreams) describeImageProvider(upstream, () => find(upstream.id));
});
