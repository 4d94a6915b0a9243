import type {
  KnowledgeAsker,
  KnowledgeBaseEntry,
  KnowledgeSettings,
} from '../../kit/assistants/assistant-knowledge.ts';
import type { UsageOrigin } from '../../kit/usage-origin.ts';
import type { KnowledgeBase } from './bases/base-store.ts';
import type { Chunk } from './chunks/chunk-text.ts';
import type { FoundPassage } from './find-knowledge.ts';
import type { Source } from './sources/source.ts';
import type { SourceText } from './sources/read-source.ts';

/** The source that is being indexed. */
export interface IndexingScene {
  readonly source: Source;
  readonly base: KnowledgeBase;
}

/** A question for which no passage was similar enough. */
export interface KnowledgeMiss {
  readonly knowledge: KnowledgeSettings;
  readonly text: string;
  /** Similarity of the closest passage, in percent; null if none was found. */
  readonly bestScore: number | null;
  readonly origin: UsageOrigin;
  readonly asker: KnowledgeAsker;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Knowledge bases that bots and forms may choose from. */
    svc_knowledge_bases: (bases: readonly KnowledgeBaseEntry[]) => readonly KnowledgeBaseEntry[];
    /** Changes a source's text before it is split into passages. An Error rejects the source with its message. */
    svc_knowledge_text: (text: SourceText, scene: IndexingScene) => SourceText;
    /** Changes the passages before they are embedded. Must be deterministic: a passage that differs is embedded again. */
    svc_knowledge_chunks: (chunks: readonly Chunk[], scene: IndexingScene) => readonly Chunk[];
    /** Passages that the test box and the command show, best first. Chatbots use `svc_chatbot_knowledge`. */
    svc_knowledge_results: (
      found: readonly FoundPassage[],
      question: { readonly base: KnowledgeBase; readonly text: string },
    ) => readonly FoundPassage[];
  }
  interface ActionMap {
    /** No passage was similar enough to a question. Does not run if nothing of the asker may be stored. */
    svc_knowledge_missing: (miss: KnowledgeMiss) => void;
    /** A source was indexed; runs after it is stored. Does not run if nothing changed. */
    svc_knowledge_indexed: (source: Source, base: KnowledgeBase) => void;
    /** A source could not be indexed and is not retried. */
    svc_knowledge_failed: (source: Source, reason: string) => void;
  }
}
