import type { ServiceContext } from '../../wiring.ts';
import { partsOf } from '../../kit/parts-of.ts';
import type { BaseStore } from './bases/base-store.ts';
import { createBaseStore } from './bases/base-store.ts';
import type { IndexParts } from './indexing/index-parts.ts';
import type { QuestionStore } from './questions/question-store.ts';
import { createQuestionStore } from './questions/question-store.ts';
import type { SourceQueue, SourceStore } from './sources/source.ts';
import { createSourceQueue } from './sources/source-queue.ts';
import { createSourceStore } from './sources/source-store.ts';
import { workChannel } from './tables.ts';

/** What pages, commands and hooks of the knowledge base share. One per context. */
export interface Knowledge {
  readonly bases: BaseStore;
  readonly sources: SourceStore;
  readonly queue: SourceQueue;
  readonly questions: QuestionStore;
  readonly index: IndexParts;
  /** Works on what is due, as far as this node is to; answers when nothing is left to do here. */
  readonly drain: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export const knowledgeOf: (context: ServiceContext) => Knowledge = partsOf(create);

function create(context: ServiceContext): Knowledge {
  const { host } = context;
  const { database, log } = host;
  const wake = (): void => {
    database.notify(workChannel, '').catch((error: unknown) => {
      log.warn('the nodes were not told of sources to index; cron finds them within a minute', { error });
    });
  };
  const labelOf = async (id: string): Promise<string> =>
    (await context.providers.all()).find((provider) => provider.id === id)?.label ?? id;
  const bases = createBaseStore(host);
  const sources = createSourceStore(host, wake);
  const queue = createSourceQueue(host);
  const index: IndexParts = {
    host,
    bases,
    sources,
    queue,
    upsertVectors: context.upsertVectors,
    openVectorStore: context.openVectorStore,
    labelOf,
    vectorStores: context.vectorStores,
  };
  const worker = lazyWorker(index);
  return { bases, sources, queue, questions: createQuestionStore(host), index, ...worker };
}

/** The worker is loaded when there is work for the first time. */
function lazyWorker(index: IndexParts): Pick<Knowledge, 'drain' | 'stop'> {
  let loaded: ReturnType<typeof load> | null = null;
  let hasStopped = false;
  const load = async () => (await import('./indexing/worker.ts')).createIndexWorker(index);
  return {
    drain: async () => {
      if (!hasStopped) await (await (loaded ??= load())).drain();
    },
    stop: async () => {
      hasStopped = true;
      if (loaded !== null) await (await loaded).stop();
    },
  };
}
