import { asRecord, type HostApi } from '#plugin-api';
import type { AutomationTaskType } from '../../../kit/automation-task.ts';
import type { AutomationTools } from '../hooks.ts';

export interface TaskTypes {
  /** The task types of modules and active plugins. Of equal ids, the first one counts. */
  list(): Promise<readonly AutomationTaskType[]>;
  get(id: string): Promise<AutomationTaskType | undefined>;
}

const sources = ['list', 'csv', 'rss', 'posts'];

/** Reads the task types with each call, so that plugins count as soon as they are activated or deactivated. */
export function createTaskTypes(
  { hooks, log }: Pick<HostApi, 'hooks' | 'log'>,
  { own, ...tools }: AutomationTools & { readonly own: () => readonly AutomationTaskType[] },
): TaskTypes {
  const reported = new Set<string>();

  async function list(): Promise<readonly AutomationTaskType[]> {
    const byId = new Map<string, AutomationTaskType>();
    for (const type of await hooks.applyFiltersAsync('svc_automation_task_types', own(), tools)) {
      const error = findTypeError(type);
      if (error !== null) reportOnce(error);
      else if (!byId.has(type.id)) byId.set(type.id, type);
    }
    return [...byId.values()];
  }

  function reportOnce(error: string): void {
    if (reported.has(error)) return;
    reported.add(error);
    log.warn('Ignored an invalid task type', { event: 'automation_type_invalid', error });
  }

  return { list, get: async (id) => (await list()).find((type) => type.id === id) };
}

/** Plugins may pass any value. */
function findTypeError(given: unknown): string | null {
  const type = asRecord(given) as Partial<AutomationTaskType>;
  if (typeof type.id !== 'string' || !/^[a-z][a-z0-9_]{0,59}$/.test(type.id))
    return `'${String(type.id)}' is not a valid id: use lower-case letters, digits and _.`;
  if (typeof type.run !== 'function') return `${type.id} has no run function.`;
  if (typeof type.label !== 'string' || typeof type.description !== 'string')
    return `${type.id} has no label or description.`;
  if (typeof type.settings !== 'object' || type.settings.type !== 'object')
    return `The settings of ${type.id} are not an object schema.`;
  if (
    !Array.isArray(type.sources) ||
    type.sources.length === 0 ||
    !type.sources.every((source) => sources.includes(source))
  )
    return `The sources of ${type.id} must be some of ${sources.join(', ')}.`;
  return null;
}
