import type { EmbeddingsPort, HostPort, ImagesPort, ProvidersPort, TextPort, UsagePort } from '../../ports.ts';
import { createCosts, type Costs } from './costs.ts';
import type { ItemStore } from './queue/item-store.ts';
import { createItemStore } from './queue/item-store.ts';
import { createRuns } from './runs/create-runs.ts';
import type { Runs } from './runs/run-store.ts';
import { automationSettings, type AutomationSettings } from './settings.ts';
import { createDataTask } from './tasks/data-task.ts';
import { createTaskStore } from './tasks/task-store.ts';
import { createTaskTypes, type TaskTypes } from './tasks/task-types.ts';
import type { TaskStore } from './tasks/task.ts';
import { createItemWork, type ItemWork } from './worker/attempt.ts';

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
  readonly work: ItemWork;
}

export function createAutomations({
  host,
  providers,
  generateText,
  generateImages,
  embed,
  ledger,
}: AutomationPorts): Automations {
  const own = () => [createDataTask({ host, providers, generateText })];
  const types = createTaskTypes(host, { generateText, generateImages, embed, own });
  const items = createItemStore(host);
  const tasks = createTaskStore({ host, types, onChange: (id) => items.requeue(id) });
  return {
    host,
    providers,
    types,
    tasks,
    items,
    settings: automationSettings(host.options),
    work: createItemWork({ host, types, tasks, flushUsage: () => ledger.flush() }),
    runs: createRuns({ host, tasks }),
    costs: createCosts({ host, ledger }),
  };
}
