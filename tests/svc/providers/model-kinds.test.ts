import { expect } from 'chai';
import { modelInfo, modelKinds } from '../../../plugins/svc/providers/model-kinds.ts';

describe('what a listed model makes', () => {
  const named = (id: string) => modelKinds({ id }, id);

  it('is read from OpenRouter’s modalities', () => {
    const entry = (...output_modalities: string[]) => ({ architecture: { output_modalities } });
    expect(modelKinds(entry('text'), 'x')).to.deep.equal(['text']);
    expect(modelKinds(entry('image', 'text'), 'x')).to.deep.equal(['text', 'image']);
    expect(modelKinds(entry('embeddings'), 'x')).to.deep.equal(['embedding']);
  });

  it('is read from Azure’s capabilities', () => {
    expect(modelKinds({ capabilities: { chat_completion: true, embeddings: false } }, 'x')).to.deep.equal(['text']);
    expect(modelKinds({ capabilities: { chat_completion: false, embeddings: true } }, 'x')).to.deep.equal([
      'embedding',
    ]);
  });

  it('is read from Google’s actions, where models that make images answer to generateContent as well', () => {
    const kinds = (id: string, ...supportedActions: string[]) => modelKinds({ supportedActions }, id);
    expect(kinds('gemini-3.5-flash', 'generateContent', 'countTokens')).to.deep.equal(['text']);
    expect(kinds('gemini-3.1-flash-image', 'generateContent')).to.deep.equal(['image']);
    expect(kinds('imagen-4.0-generate-001', 'predict')).to.deep.equal(['image']);
    expect(kinds('gemini-embedding-001', 'embedContent')).to.deep.equal(['embedding']);
    expect(kinds('veo-3.1-generate', 'predictLongRunning')).to.deep.equal(['video']);
  });

  it('is read from names that say it, and else not known', () => {
    for (const id of [
      'text-embedding-3-small',
      'openai/text-embedding-3-large',
      'nomic-embed-text:latest',
      'mxbai-embed-large',
    ])
      expect(named(id), id).to.deep.equal(['embedding']);
    for (const id of [
      'gpt-image-2',
      'dall-e-3',
      'grok-imagine-image-quality',
      'grok-2-image-1212',
      'chatgpt-image-latest',
    ])
      expect(named(id), id).to.deep.equal(['image']);
    for (const id of ['gpt-5.6-terra', 'grok-4.5', 'llama3.2', 'claude-sonnet-5-5', 'whisper-1'])
      expect(named(id), id).to.equal(undefined);
  });

  it('stands beside the name, with a label that says more than it', () => {
    expect(modelInfo({}, 'gpt-5', 'gpt-5')).to.deep.equal({ id: 'gpt-5' });
    expect(modelInfo({}, 'dall-e-3', 'DALL·E 3')).to.deep.equal({
      id: 'dall-e-3',
      label: 'DALL·E 3',
      kinds: ['image'],
    });
  });
});
