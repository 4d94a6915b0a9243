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

declare module '#plugin-api' {
  interface FilterMap {
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
    /** A source was indexed; runs after it is stored. Not for one that had not changed. */
    svc_knowledge_indexed: (source: Source, base: KnowledgeBase) => void;
    /** A source could not be indexed and is not tried again by itself. */
    svc_knowledge_failed: (source: Source, reason: string) => void;
  }
}
