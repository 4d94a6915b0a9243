import { expect } from 'chai';
import {
  knownNames,
  nameErrors,
  type KnownNames,
  type NamingSettings,
} from '../../../../plugins/svc/kit/assistants/known-names.ts';
import { knowledgeSchema, type KnowledgeSettings } from '../../../../plugins/svc/kit/assistants/assistant-knowledge.ts';
import { fillDefaults } from '#plugin-api';
import type { Provider } from '../../../../plugins/svc/providers/provider.ts';

const known: KnownNames = {
  textProviders: ['openai', 'claude'],
  embeddingProviders: ['openai'],
  vectorStores: ['qdrant'],
  knowledgeBases: [7],
};
const naming = (provider: string, knowledge: Partial<KnowledgeSettings> = {}): NamingSettings => ({
  provider,
  knowledge: fillDefaults(knowledgeSchema, knowledge) as KnowledgeSettings,
});
const own = { enabled: true, store: 'qdrant', target: 'notes', embedding_provider: 'openai', embedding_model: 'e' };

describe('names in settings of assistants', () => {
  it('are those of the current providers, vector stores and knowledge bases', async () => {
    const providers = [{ id: 'openai', embeddings: {} }, { id: 'claude' }] as unknown as Provider[];
    const source = {
      providers: { all: () => providers },
      textProviderIds: () => ['openai', 'claude'],
      vectorStoreIds: () => ['qdrant'],
      knowledgeBases: async () => [{ id: 7 }],
    };
    expect(await knownNames(source)).to.deep.equal(known);
  });

  it('are valid if they are known or unused', () => {
    for (const settings of [
      naming('claude'),
      naming('openai', own),
      naming('openai', { enabled: true, base: 7 }),
      naming('openai', { enabled: false, base: 8, store: 'gone' }),
    ]) {
      expect(nameErrors(settings, known, null)).to.deep.equal({});
    }
  });

  it('are rejected if they are unknown, each at its path', () => {
    expect(
      nameErrors(naming('unknown', { enabled: true, store: 'qdant', embedding_provider: 'claude' }), known, null),
    ).to.deep.equal({
      provider: 'provider must be one of openai, claude.',
      'knowledge.store': 'knowledge.store must be one of qdrant while knowledge is on.',
      'knowledge.embedding_provider': 'knowledge.embedding_provider must be one of openai while knowledge is on.',
      'knowledge.target': 'knowledge.target must not be empty while knowledge is on.',
      'knowledge.embedding_model': 'knowledge.embedding_model must not be empty while knowledge is on.',
    });
    expect(nameErrors(naming('openai', { enabled: true, base: 8 }), known, null)).to.have.all.keys('knowledge.base');
  });

  it('may be missing if they were saved before and are unchanged', () => {
    const none: KnownNames = { textProviders: [], embeddingProviders: [], vectorStores: [], knowledgeBases: [] };
    expect(nameErrors(naming('openai', own), none, naming('openai', own))).to.deep.equal({});
    expect(
      nameErrors(naming('openai', { enabled: true, base: 7 }), none, naming('openai', { enabled: true, base: 7 })),
    ).to.deep.equal({});
    expect(nameErrors(naming('openai', own), none, naming('openai', { ...own, enabled: false }))).to.have.all.keys(
      'knowledge.store',
      'knowledge.embedding_provider',
    );
  });
});
