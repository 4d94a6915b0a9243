import { type AdminActionResult, type AdminPageBody, withNotice } from '#plugin-api';
import { readText } from '../../../admin-ui/form-values.ts';
import type { Automations } from '../automations.ts';
import type { Task } from '../tasks/task.ts';
import { requireTaskOfForm } from './require-task.ts';
import { taskEditSlug, tasksSlug } from './task-slugs.ts';

/** Actions on a whole task, for the list and the page of the task. @param here the redirect after an action */
export function taskActions(
  automations: Automations,
  here: (task: Task) => string,
): NonNullable<AdminPageBody['actions']> {
  const { tasks, runs } = automations;
  const result = (kind: 'success' | 'error' | 'info', text: string, task: Task): AdminActionResult => ({
    notice: { kind, text },
    redirect: here(task),
  });
  return {
    run: async (request) => {
      const task = await requireTaskOfForm(automations, request);
      const { state, added, message } = await runs.run(task.id, 'page');
      return result(state === 'failed' ? 'error' : added === 0 ? 'info' : 'success', `${task.name}: ${message}`, task);
    },
    switch: async (request) => {
      const status = readText(request, 'status') === 'active' ? 'active' : 'paused';
      const task = await tasks.update((await requireTaskOfForm(automations, request)).id, { status });
      return result(
        'success',
        status === 'active'
          ? `${task.name} is active.`
          : `${task.name} is paused. Items in progress finish; all others wait.`,
        task,
      );
    },
    duplicate: async (request) => {
      const task = await tasks.duplicate((await requireTaskOfForm(automations, request)).id);
      return withNotice('success', `${task.name} created without items. It is paused until you resume it.`, {
        redirect: `${taskEditSlug}?id=${String(task.id)}`,
      });
    },
    delete: async (request) => {
      const task = await requireTaskOfForm(automations, request);
      await tasks.delete(task.id);
      return withNotice(
        'success',
        `${task.name} and its items were deleted. Posts and images that it created are kept.`,
        { redirect: tasksSlug },
      );
    },
  };
}
