import type { Automations } from '../automations.ts';
import { unknownTask } from '../tasks/task-store.ts';
import type { Task } from '../tasks/task.ts';

export const idArgument = { name: 'id', description: 'Id of the task, see svc task list.' };

/** @throws Error where there is none */
export async function findTask({ tasks }: Pick<Automations, 'tasks'>, id: unknown): Promise<Task> {
  const task = /^[1-9]\d{0,9}$/.test(String(id)) ? await tasks.get(Number(id)) : null;
  if (task === null) throw new Error(`${unknownTask(id).message} See svc task list.`);
  return task;
}

export function moment(time: number | null | undefined): string | null {
  return time === undefined || time === null ? null : new Date(time).toISOString();
}
