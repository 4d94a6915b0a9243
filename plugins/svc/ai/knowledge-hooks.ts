import type { KnowledgeAsker, KnowledgeSettings } from './find-knowledge.ts';
import type { UsageOrigin } from './usage-record.ts';

/** A knowledge base as those see it who may choose one. */
export interface KnowledgeBaseEntry {
  /** 1 or more, never used twice. */
  readonly id: number;
  readonly name: string;
  /** Id of a vector store. */
  readonly store: string;
  /** Name of its index or collection. */
  readonly target: string;
  readonly namespace: string;
  /** What the target is filled with. */
  readonly embeddingProvider: string;
  readonly embeddingModel: string;
}

/** A question that the knowledge holds nothing alike enough for. */
export interface KnowledgeMiss {
  readonly knowledge: KnowledgeSettings;
  readonly text: string;
  /** Percent of the nearest text, which was too far; null: there was none at all. */
  readonly bestScore: number | null;
  readonly origin: UsageOrigin;
  readonly asker: KnowledgeAsker;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Knowledge bases that bots and forms may choose from. */
    svc_knowledge_bases: (bases: readonly KnowledgeBaseEntry[]) => readonly KnowledgeBaseEntry[];
  }
  interface ActionMap {
    /** Somebody asked, and nothing in the knowledge was alike enough. Not run where nothing of the asker may be kept. */
    svc_knowledge_missing: (miss: KnowledgeMiss) => void;
  }
}
