import type { AdminActionResult, AdminPageBody } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { automationsOf } from '../automations.ts';
import type { Task } from '../tasks/task.ts';
import { taskOfForm } from './task-of.ts';
import { taskEditSlug, tasksSlug } from './task-slugs.ts';

/** What is done with a whole task, from the list and from its own page. @param here where to go on after it */
export function taskActions(
  context: ServiceContext,
  here: (task: Task) => string,
): NonNullable<AdminPageBody['actions']> {
  const { tasks, runs } = automationsOf(context);
  const say = (kind: 'success' | 'error' | 'info', text: string, task: Task): AdminActionResult => ({
    notice: { kind, text },
    redirect: here(task),
  });
  return {
    run: async (request) => {
      const task = await taskOfForm(context, request);
      const { state, added, message } = await runs.run(task.id, 'page');
      return say(state === 'failed' ? 'error' : added === 0 ? 'info' : 'success', `${task.name}: ${message}`, task);
    },
    switch: async (request) => {
      const status = readText(request, 'status') === 'active' ? 'active' : 'paused';
      const task = await tasks.update((await taskOfForm(context, request)).id, { status });
      return say(
        'success',
        status === 'active'
          ? `${task.name} is active.`
          : `${task.name} is paused: it collects nothing, and its items wait. What is under way ends.`,
        task,
      );
    },
    duplicate: async (request) => {
      const task = await tasks.duplicate((await taskOfForm(context, request)).id);
      return {
        notice: { kind: 'success', text: `${task.name} is there, without items. It is paused until you resume it.` },
        redirect: `${taskEditSlug}?id=${String(task.id)}`,
      };
    },
    delete: async (request) => {
      const task = await taskOfForm(context, request);
      if (readText(request, 'confirm') !== '1')
        return say('error', `Nothing was deleted. Tick the box to confirm that ${task.name} is to go.`, task);
      await tasks.delete(task.id);
      return {
        notice: { kind: 'success', text: `${task.name} is deleted, with its items. What it made stays.` },
        redirect: tasksSlug,
      };
    },
  };
}
