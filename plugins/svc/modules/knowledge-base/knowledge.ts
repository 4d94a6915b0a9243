import type { EmbeddingsPort, HostPort, ProvidersPort, SettingsPort, VectorStoresPort } from '../../ports.ts';
import { createBaseStore, type BaseStore } from './bases/base-store.ts';
import { createQuestionStore, type QuestionStore } from './questions/question-store.ts';
import type { SourceStore, SourceWork } from './sources/source.ts';
import { createSourceStore } from './sources/source-store.ts';
import { createSourceWork } from './sources/source-work.ts';
import { deleteBaseJob, indexJob } from './tables.ts';

export type KnowledgePorts = HostPort & ProvidersPort & SettingsPort & EmbeddingsPort & VectorStoresPort;

/** What indexing and deleting sources needs. */
export interface IndexParts extends KnowledgePorts {
  readonly bases: BaseStore;
  readonly sources: SourceStore;
  readonly work: SourceWork;
}

/** What the pages, commands, hooks and jobs of knowledge bases share. */
export interface KnowledgeParts extends IndexParts {
  readonly questions: QuestionStore;
  /** Processes due sources and bases on this node; resolves when none is left for it. */
  drain(): Promise<void>;
}

export function createKnowledge(ports: KnowledgePorts): KnowledgeParts {
  const { host } = ports;
  return {
    ...ports,
    bases: createBaseStore(host),
    sources: createSourceStore(host),
    work: createSourceWork(host),
    questions: createQuestionStore(host),
    async drain() {
      for (const name of [indexJob, deleteBaseJob]) await host.jobs.drain(name);
    },
  };
}
