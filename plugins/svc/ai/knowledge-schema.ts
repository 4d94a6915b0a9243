import { flag, group, line, whole } from '../kit/settings-schema/fields.ts';
import type { KnowledgeSettings } from './find-knowledge.ts';

/** Settings of what chatbots and forms know: which texts go into the prompt. */
export const knowledgeSchema = group<KnowledgeSettings>(
  { title: 'Knowledge', description: 'Texts of a knowledge base that go into the prompt.' },
  {
    enabled: flag({ title: 'Answer from a knowledge base' }, false),
    base: whole(
      { title: 'Knowledge base', description: 'Its id; 0: the vector store below is asked.' },
      0,
      [0, 2_147_483_647],
    ),
    store: line({ title: 'Vector store' }, '', 60),
    target: line({ title: 'Index or collection' }, '', 512),
    namespace: line({ title: 'Namespace', description: 'Pinecone only.' }, '', 512),
    embedding_provider: line(
      { title: 'Embedding provider', description: 'What the index or collection was filled with.' },
      '',
      60,
    ),
    embedding_model: line({ title: 'Embedding model' }, ''),
    top_k: whole({ title: 'Most texts per question' }, 3, [1, 20]),
    min_score: whole(
      { title: 'Least likeness in percent', description: 'Texts less alike are left out.' },
      20,
      [0, 100],
    ),
    show_sources: flag({ title: 'Show sources to visitors' }, true),
  },
);
