import { RestError, type AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { automationsOf } from '../automations.ts';
import type { Item } from '../queue/item.ts';
import { unknownTask } from '../tasks/task-store.ts';
import type { Task } from '../tasks/task.ts';

/** The task an address is about: `?id=7`. @throws RestError 404 */
export function taskOfQuery(context: ServiceContext, { query }: Pick<AdminRequest, 'query'>): Promise<Task> {
  return taskOf(context, query['id']);
}

/** The task a form is about. @throws RestError 404 */
export function taskOfForm(context: ServiceContext, request: AdminRequest): Promise<Task> {
  return taskOf(context, readText(request, 'id'));
}

async function taskOf(context: ServiceContext, id: unknown): Promise<Task> {
  const number = idOf(id);
  const task = number === null ? null : await automationsOf(context).tasks.get(number);
  if (task === null) throw unknownTask(typeof id === 'string' ? id.slice(0, 20) : '');
  return task;
}

/** @throws RestError 404 */
export async function itemOf(context: ServiceContext, id: unknown): Promise<Item> {
  const number = idOf(id);
  const item = number === null ? null : await automationsOf(context).items.get(number);
  if (item === null)
    throw new RestError({
      code: 'rest_svc_task_item_not_found',
      status: 404,
      message: 'There is no such item. It may have been deleted with its task.',
    });
  return item;
}

export function idOf(value: unknown): number | null {
  return typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value) ? Number(value) : null;
}
