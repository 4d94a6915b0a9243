import { randomUUID } from 'node:crypto';
import type { EmbeddingsPort, HostPort, ImagesPort, ProvidersPort, TextPort, UsagePort } from '../../ports.ts';
import { createCosts, type Costs } from './costs.ts';
import { createClaims } from './queue/claims.ts';
import type { ItemStore } from './queue/item-store.ts';
import { createItemStore } from './queue/item-store.ts';
import { createRuns } from './runs/create-runs.ts';
import type { Runs } from './runs/run-store.ts';
import { automationSettings, type AutomationSettings } from './settings.ts';
import { createTaskStore } from './tasks/task-store.ts';
import { createTaskTypes, type TaskTypes } from './tasks/task-types.ts';
import type { TaskStore } from './tasks/task.ts';
import { createAttempt } from './worker/attempt.ts';
import { createWorker, type Worker } from './worker/worker.ts';
import { notifyNodes } from './node-events.ts';

export type AutomationPorts = HostPort &
  Pick<ProvidersPort, 'providers'> &
  Pick<TextPort, 'generateText'> &
  Pick<ImagesPort, 'generateImages'> &
  Pick<EmbeddingsPort, 'embed'> &
  Pick<UsagePort, 'ledger'>;

/** What the pages, commands and jobs of automations share. */
export interface Automations extends Pick<HostPort, 'host'>, Pick<ProvidersPort, 'providers'> {
  readonly types: TaskTypes;
  readonly tasks: TaskStore;
  readonly items: ItemStore;
  readonly runs: Runs;
  readonly costs: Costs;
  readonly settings: AutomationSettings;
  readonly worker: Worker;
}

export function createAutomations({
  host,
  providers,
  generateText,
  generateImages,
  embed,
  ledger,
}: AutomationPorts): Automations {
  const types = createTaskTypes(host, { generateText, generateImages, embed });
  const claims = createClaims(host, randomUUID());
  const settings = automationSettings(host.options);
  /** Wakes the workers of this and of all other nodes; in a transaction, after its commit. */
  const wakeWorkers = (): void => {
    host.database.afterCommit(() => {
      worker.wake();
    });
    notifyNodes(host, { kind: 'work' });
  };
  const abandonItems = (ids: readonly number[]): void => {
    host.database.afterCommit(() => {
      worker.abandon(ids);
    });
    notifyNodes(host, { kind: 'cancelled', ids });
  };
  const tasks = createTaskStore({ host, types, onChange: wakeWorkers });
  const worker = createWorker({
    host,
    claims,
    types,
    task: (id) => tasks.get(id),
    concurrency: async () => (await settings.read()).concurrency,
    attempt: createAttempt({ host, claims, random: Math.random, flushUsage: () => ledger.flush() }),
    elapsed: () => performance.now(),
  });
  host.onStop(() => worker.stop());
  return {
    host,
    providers,
    types,
    tasks,
    worker,
    settings,
    items: createItemStore({ host, onReady: wakeWorkers, onCancel: abandonItems }),
    runs: createRuns({ host, tasks, onAdd: wakeWorkers }),
    costs: createCosts({ host, ledger }),
  };
}
