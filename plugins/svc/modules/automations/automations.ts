import { randomUUID } from 'node:crypto';
import type { ServiceContext } from '../../wiring.ts';
import { partsOf } from '../../kit/parts-of.ts';
import { createCosts, type Costs } from './costs.ts';
import { createClaims } from './queue/claims.ts';
import type { ItemStore } from './queue/item-store.ts';
import { createItemStore } from './queue/item-store.ts';
import { createRuns } from './runs/create-runs.ts';
import type { Runs } from './runs/run.ts';
import { automationSettings, type AutomationSettings } from './settings.ts';
import { createTaskStore } from './tasks/task-store.ts';
import { createTaskTypes, type TaskTypes } from './tasks/task-types.ts';
import type { TaskStore } from './tasks/task.ts';
import { createAttempt } from './worker/attempt.ts';
import { createWorker, type Worker } from './worker/worker.ts';
import { notifyNodes } from './node-events.ts';

/** What the pages, commands and jobs of automations share. One per context. */
export interface Automations {
  readonly types: TaskTypes;
  readonly tasks: TaskStore;
  readonly items: ItemStore;
  readonly runs: Runs;
  readonly costs: Costs;
  readonly settings: AutomationSettings;
  readonly worker: Worker;
}

/** The parts of automations in this process. */
export const automationsOf: (context: ServiceContext) => Automations = partsOf(create);

function create({ host, generateText, generateImages, embed, ledger }: ServiceContext): Automations {
  const types = createTaskTypes(host, { generateText, generateImages, embed });
  const claims = createClaims(host, randomUUID());
  const settings = automationSettings(host.options);
  /** Here at once, and on every other node within a second. Inside a transaction: after it. */
  const ready = (): void => {
    host.database.afterCommit(() => {
      worker.wake();
    });
    notifyNodes(host, { kind: 'work' });
  };
  const giveUp = (ids: readonly number[]): void => {
    host.database.afterCommit(() => {
      worker.abandon(ids);
    });
    notifyNodes(host, { kind: 'cancelled', ids });
  };
  const tasks = createTaskStore({ host, types, changed: ready });
  const worker = createWorker({
    host,
    claims,
    types,
    task: (id) => tasks.get(id),
    concurrency: async () => (await settings.read()).concurrency,
    attempt: createAttempt({ host, claims, random: Math.random, stored: () => ledger.flush() }),
    elapsed: () => performance.now(),
  });
  host.onStop(() => worker.stop());
  return {
    types,
    tasks,
    worker,
    settings,
    items: createItemStore({ host, ready, cancelled: giveUp }),
    runs: createRuns({ host, tasks, added: ready }),
    costs: createCosts({ host, ledger }),
  };
}
