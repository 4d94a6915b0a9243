import { parseId, requireFound, type AdminRequest } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Automations } from '../automations.ts';
import type { Item } from '../queue/item.ts';
import { unknownTask } from '../tasks/task-store.ts';
import type { Task } from '../tasks/task.ts';
import { taskSlug } from './task-slugs.ts';

/** The task that the query names: `?id=7`. @throws RestError 404 */
export function requireTaskOfQuery(automations: Automations, { query }: Pick<AdminRequest, 'query'>): Promise<Task> {
  return requireTask(automations, query['id']);
}

/** The task that the form names. @throws RestError 404 */
export function requireTaskOfForm(automations: Automations, request: AdminRequest): Promise<Task> {
  return requireTask(automations, readText(request, 'id'));
}

async function requireTask(automations: Automations, id: unknown): Promise<Task> {
  const task = await automations.tasks.get(parseId(id));
  if (task === null) throw unknownTask(typeof id === 'string' ? id.slice(0, 20) : '');
  return task;
}

/** The breadcrumb of a task on the pages of its parts. */
export function taskLink({ host }: Automations, { id, name }: Task): { title: string; href: string } {
  return { title: name, href: `${host.admin.url(taskSlug)}?id=${String(id)}` };
}

/** @throws RestError 404 */
export async function requireItem(automations: Automations, id: unknown): Promise<Item> {
  return requireFound(await automations.items.get(parseId(id)), {
    code: 'rest_svc_task_item_not_found',
    status: 404,
    message: 'Item not found. It may have been deleted with its automation.',
  });
}
