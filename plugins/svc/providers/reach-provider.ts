import { asProviderError, type ModelInfo, type Provider, type ProviderConnection } from './provider.ts';

/**
 * Tests a provider's settings with one call: lists its models, or generates a word of text if the upstream has no listing
 * (404, 405). Returns the models; none in the second case. Throws ProviderError.
 */
export async function reachProvider(provider: Provider, connection: ProviderConnection): Promise<ModelInfo[]> {
  try {
    return await provider.listModels(connection);
  } catch (thrown) {
    const status = asProviderError(thrown)?.status;
    const { model } = connection.settings;
    if ((status !== 404 && status !== 405) || provider.text === undefined || !model) throw thrown;
    await provider.text.generate(
      { model, system: null, messages: [{ role: 'user', content: 'Say: ok' }], params: {} },
      connection,
    );
    return [];
  }
}
