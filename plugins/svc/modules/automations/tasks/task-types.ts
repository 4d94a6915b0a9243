import type { HostApi } from '#plugin-api';
import type { AutomationTaskType } from '../../../kit/automation-task.ts';
import type { AutomationTools } from '../hooks.ts';

export interface TaskTypes {
  /** Those that modules and plugins offer at this moment, the first of equal ids. */
  list(): Promise<readonly AutomationTaskType[]>;
  get(id: string): Promise<AutomationTaskType | undefined>;
}

const sources = ['list', 'csv', 'rss', 'posts'];

/** Kinds of work, asked for anew each time: a plugin that is switched on or off counts at once. */
export function createTaskTypes({ hooks, log }: Pick<HostApi, 'hooks' | 'log'>, tools: AutomationTools): TaskTypes {
  const told = new Set<string>();

  async function list(): Promise<readonly AutomationTaskType[]> {
    const byId = new Map<string, AutomationTaskType>();
    for (const type of await hooks.applyFiltersAsync(
      'svc_automation_task_types',
      [] as readonly AutomationTaskType[],
      tools,
    )) {
      const error = errorOf(type);
      if (error !== null) tell(error);
      else if (!byId.has(type.id)) byId.set(type.id, type);
    }
    return [...byId.values()];
  }

  function tell(error: string): void {
    if (!told.has(error)) log.warn('A kind of automation is left out.', { error });
    told.add(error);
  }

  return { list, get: async (id) => (await list()).find((type) => type.id === id) };
}

/** What plugins hand in may be anything. */
function errorOf(given: unknown): string | null {
  const type = (typeof given === 'object' && given !== null ? given : {}) as Partial<AutomationTaskType>;
  if (typeof type.id !== 'string' || !/^[a-z][a-z0-9_]{0,59}$/.test(type.id))
    return `'${String(type.id)}' is no id: use lower-case letters, digits and _.`;
  if (typeof type.run !== 'function') return `${type.id} has no function run.`;
  if (typeof type.label !== 'string' || typeof type.description !== 'string')
    return `${type.id} has no label or no description.`;
  if (typeof type.settings !== 'object' || type.settings.type !== 'object')
    return `The settings of ${type.id} are no schema of an object.`;
  if (
    !Array.isArray(type.sources) ||
    type.sources.length === 0 ||
    !type.sources.every((source) => sources.includes(source))
  )
    return `The sources of ${type.id} are not some of ${sources.join(', ')}.`;
  return null;
}
