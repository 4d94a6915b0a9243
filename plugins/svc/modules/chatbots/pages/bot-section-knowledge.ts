import type { Choice } from '../../../admin-ui/setting-field.ts';
import type { Section } from './bot-section.ts';

export interface KnowledgeChoices {
  /** By their ids. */
  readonly bases: readonly Choice[];
  readonly stores: readonly Choice[];
  readonly embeddingProviders: readonly Choice[];
}

/** Texts of a vector store that go into the prompt. */
export function knowledgeSection({ bases, stores, embeddingProviders }: KnowledgeChoices): Section {
  return {
    id: 'knowledge',
    title: 'Knowledge',
    help: 'Before it answers, the texts of a knowledge base that are most like the question are handed to the model.',
    groups: [
      { wide: true, fields: [{ path: 'knowledge.enabled', type: 'switch', label: 'Answer from a knowledge base' }] },
      {
        title: 'Where the texts are',
        wide: true,
        fields: [
          {
            path: 'knowledge.base',
            type: 'select',
            numeric: true,
            label: 'Knowledge base',
            options: [{ value: '0', label: 'None: the vector store below' }, ...bases],
            help:
              bases.length === 0
                ? 'There is none yet: make one on the page "Knowledge". Or name a vector store below.'
                : 'It knows its vector store and how its texts were embedded; the next two parts are left as they are.',
          },
        ],
      },
      {
        title: 'A vector store of your own, in place of a knowledge base',
        fields: [
          {
            path: 'knowledge.store',
            type: 'select',
            label: 'Vector store',
            options: [{ value: '', label: 'None' }, ...stores],
          },
          {
            path: 'knowledge.target',
            type: 'text',
            label: 'Index or collection',
            mono: true,
            list: 'targets',
            help: 'Its name in the vector store.',
          },
          {
            path: 'knowledge.namespace',
            type: 'text',
            label: 'Namespace',
            mono: true,
            help: 'Of Pinecone; empty for the default one.',
          },
        ],
      },
      {
        title: 'How they were embedded',
        help: 'Questions must be embedded the way the texts were, or nothing fitting is found.',
        fields: [
          {
            path: 'knowledge.embedding_provider',
            type: 'select',
            label: 'Embedding provider',
            options: [{ value: '', label: 'None' }, ...embeddingProviders],
          },
          {
            path: 'knowledge.embedding_model',
            type: 'text',
            label: 'Embedding model',
            mono: true,
            list: 'models-embedding',
            placeholder: 'text-embedding-3-small',
          },
        ],
      },
      {
        title: 'How many',
        fields: [
          {
            path: 'knowledge.top_k',
            type: 'number',
            label: 'Most texts per question',
            min: 1,
            max: 20,
            short: true,
            help: '1 to 20, default 3.',
          },
          {
            path: 'knowledge.min_score',
            type: 'number',
            label: 'Least likeness, in percent',
            min: 0,
            max: 100,
            short: true,
            help: 'Texts less like the question are left out. Default 20.',
          },
        ],
      },
      {
        wide: true,
        fields: [
          {
            path: 'knowledge.show_sources',
            type: 'switch',
            label: 'Show sources',
            help: 'Below an answer visitors see which texts it comes from.',
          },
        ],
      },
    ],
  };
}
