import type { EmbeddingsPort, HostPort, ProvidersPort, SettingsPort, VectorStoresPort } from '../../ports.ts';
import { createBaseStore, type BaseStore } from './bases/base-store.ts';
import { createQuestionStore, type QuestionStore } from './questions/question-store.ts';
import type { SourceQueue, SourceStore } from './sources/source.ts';
import { createSourceQueue } from './sources/source-queue.ts';
import { createSourceStore } from './sources/source-store.ts';
import { workChannel } from './tables.ts';

export type KnowledgePorts = HostPort & ProvidersPort & SettingsPort & EmbeddingsPort & VectorStoresPort;

/** What indexing and deleting sources needs. */
export interface IndexParts extends KnowledgePorts {
  readonly bases: BaseStore;
  readonly sources: SourceStore;
  readonly queue: SourceQueue;
}

/** What the pages, commands, hooks and jobs of knowledge bases share. */
export interface KnowledgeParts extends IndexParts {
  readonly questions: QuestionStore;
  /** Processes due sources on this node; resolves when none is left for it. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export function createKnowledge(ports: KnowledgePorts): KnowledgeParts {
  const { host } = ports;
  const wake = (): void => {
    host.database.notify(workChannel, '').catch((error: unknown) => {
      host.log.warn('Failed to notify nodes of sources to index; cron finds them within a minute', {
        event: 'knowledge_notify_failed',
        error,
      });
    });
  };
  const parts: IndexParts = {
    ...ports,
    bases: createBaseStore(host),
    sources: createSourceStore(host, wake),
    queue: createSourceQueue(host),
  };
  return { ...parts, questions: createQuestionStore(host), ...lazyWorker(parts) };
}

/** Loads the worker with the first work. */
function lazyWorker(parts: IndexParts): Pick<KnowledgeParts, 'drain' | 'stop'> {
  let loaded: ReturnType<typeof load> | null = null;
  let isStopped = false;
  const load = async () => (await import('./indexing/worker.ts')).createIndexWorker(parts);
  return {
    drain: async () => {
      if (!isStopped) await (await (loaded ??= load())).drain();
    },
    stop: async () => {
      isStopped = true;
      if (loaded !== null) await (await loaded).stop();
    },
  };
}
