/** A knowledge base: where its passages are, how they are embedded and cut. */
export interface KnowledgeBase {
  /** 1 or more, never used twice. */
  readonly id: number;
  readonly name: string;
  /** Id of a vector store. */
  readonly store: string;
  /** Name of its index or collection, which this base alone uses. */
  readonly target: string;
  /** Pinecone only. */
  readonly namespace: string;
  readonly embeddingProvider: string;
  readonly embeddingModel: string;
  /** Most tokens of a passage, 50 to 8,000. */
  readonly chunkTokens: number;
  /** Tokens that a passage repeats from the one before; less than half of `chunkTokens`. */
  readonly overlapTokens: number;
  /** Post types whose posts are indexed when they are published or changed, and go when they are not public any more. */
  readonly follows: readonly string[];
  readonly state: 'active' | 'deleting';
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewBase = Pick<
  KnowledgeBase,
  'name' | 'store' | 'target' | 'namespace' | 'embeddingProvider' | 'embeddingModel' | 'chunkTokens' | 'overlapTokens'
>;
export type BaseChanges = Partial<Pick<KnowledgeBase, 'name' | 'chunkTokens' | 'overlapTokens' | 'follows'>>;

export const defaultChunks = { chunkTokens: 400, overlapTokens: 60 } as const;
