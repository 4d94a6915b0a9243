import type {
  KnowledgeAsker,
  KnowledgeBaseEntry,
  KnowledgeSettings,
} from '../../kit/assistants/assistant-knowledge.ts';
import type { UsageOrigin } from '../../kit/usage-origin.ts';
import type { KnowledgeBase } from './bases/base.ts';
import type { Chunk } from './chunks/chunk-text.ts';
import type { FoundPassage } from './search.ts';
import type { Source } from './sources/source.ts';
import type { SourceText } from './sources/read-source.ts';

/** What filters are told of the source that is being indexed. */
export interface IndexingScene {
  readonly source: Source;
  readonly base: KnowledgeBase;
}

/** A question for which no passage was similar enough. */
export interface KnowledgeMiss {
  readonly knowledge: KnowledgeSettings;
  readonly text: string;
  /** Similarity of the closest passage, in percent; null: there was none. */
  readonly bestScore: number | null;
  readonly origin: UsageOrigin;
  readonly asker: KnowledgeAsker;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Knowledge bases that bots and forms may choose from. */
    svc_knowledge_bases: (bases: readonly KnowledgeBaseEntry[]) => readonly KnowledgeBaseEntry[];
    /** What a source says, before it is cut into passages: takes out what nobody is to find, or adds to it. Refuses the source by throwing an Error whose message is its reason. */
    svc_knowledge_text: (text: SourceText, scene: IndexingScene) => SourceText;
    /** Passages before they are embedded: drops, changes or adds some. The same passage must come out the same, or it is embedded again each time. */
    svc_knowledge_chunks: (chunks: readonly Chunk[], scene: IndexingScene) => readonly Chunk[];
    /** What the test box and the command find, best first. Chatbots have `svc_chatbot_knowledge`. */
    svc_knowledge_results: (
      found: readonly FoundPassage[],
      question: { readonly base: KnowledgeBase; readonly text: string },
    ) => readonly FoundPassage[];
  }
  interface ActionMap {
    /** No passage was similar enough to a question. Does not run if nothing of the asker may be stored. */
    svc_knowledge_missing: (miss: KnowledgeMiss) => void;
    /** A source was indexed; runs after it is stored. Not for one that had not changed. */
    svc_knowledge_indexed: (source: Source, base: KnowledgeBase) => void;
    /** A source could not be indexed and is not tried again by itself. */
    svc_knowledge_failed: (source: Source, reason: string) => void;
  }
}
