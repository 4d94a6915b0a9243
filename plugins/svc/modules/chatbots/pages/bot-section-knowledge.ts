import type { Choice } from '../../../admin-ui/setting-field.ts';
import type { FieldGroup, Section } from './bot-section.ts';

export interface KnowledgeChoices {
  /** By id. */
  readonly bases: readonly Choice[];
  readonly stores: readonly Choice[];
  readonly embeddingProviders: readonly Choice[];
}

/** Passages of a vector store that are added to the prompt. */
export function knowledgeSection({ bases, stores, embeddingProviders }: KnowledgeChoices): Section {
  return {
    id: 'knowledge',
    title: 'Knowledge',
    help: 'The bot looks up the most relevant passages before it answers.',
    groups: [
      { wide: true, fields: [{ path: 'knowledge.enabled', type: 'switch', label: 'Answer from a knowledge base' }] },
      sourceGroup(bases),
      storeGroup(stores),
      embeddingGroup(embeddingProviders),
      passagesGroup,
      {
        wide: true,
        fields: [
          {
            path: 'knowledge.show_sources',
            type: 'switch',
            label: 'Show sources',
            help: 'Lists the sources of an answer below it.',
          },
        ],
      },
    ],
  };
}

function sourceGroup(bases: readonly Choice[]): FieldGroup {
  return {
    title: 'Source',
    wide: true,
    fields: [
      {
        path: 'knowledge.base',
        type: 'select',
        numeric: true,
        label: 'Knowledge base',
        options: [{ value: '0', label: 'None: use the vector store below' }, ...bases],
        help:
          bases.length === 0
            ? 'No knowledge base yet. Create one on the page "Knowledge", or choose a vector store below.'
            : 'A knowledge base sets the vector store and the embedding model. The next two parts are then ignored.',
      },
    ],
  };
}

function storeGroup(stores: readonly Choice[]): FieldGroup {
  return {
    title: 'Vector store instead of a knowledge base',
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
        help: 'For Pinecone. Leave empty to use the default namespace.',
      },
    ],
  };
}

function embeddingGroup(embeddingProviders: readonly Choice[]): FieldGroup {
  return {
    title: 'Embedding',
    help: 'Use the model that embedded the passages. With another model no matches are found.',
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
  };
}

const passagesGroup: FieldGroup = {
  title: 'Passages',
  fields: [
    {
      path: 'knowledge.top_k',
      type: 'number',
      label: 'Passages per question',
      min: 1,
      max: 20,
      short: true,
      help: 'At most this many, 1 to 20. Default 3.',
    },
    {
      path: 'knowledge.min_score',
      type: 'number',
      label: 'Minimum match (%)',
      min: 0,
      max: 100,
      short: true,
      help: 'Passages below this score are ignored. Default 20.',
    },
  ],
};
