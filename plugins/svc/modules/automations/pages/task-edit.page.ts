import { inputName, readForm, withNotice, withFieldErrors, fillDefaults } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import { readText, readGroup } from '../../../admin-ui/form-values.ts';
import type { Automations } from '../automations.ts';
import { sourceSchema, taskSchema } from '../tasks/task.ts';
import { taskEditView, typeChoices } from './task-edit-view.ts';
import { requireTaskOfForm, requireTaskOfQuery } from './require-task.ts';
import { taskSlug } from './task-slugs.ts';
import { readFile } from 'node:fs/promises';
import type { AutomationTaskType } from '../../../kit/automation-task.ts';
import type { Task } from '../tasks/task.ts';
import { namedSchedules } from './task-labels.ts';

/** Creates and edits a task: first its type, then its settings. */
export function createPage(automations: Automations): AdminPageBody {
  return {
    render: async (request) => {
      if (request.query['id'] !== undefined) {
        const task = await requireTaskOfQuery(automations, request);
        return editPage(automations, task, { draft: task as unknown as TaskDraft, errors: {} });
      }
      const { list } = automations.types;
      const types = await list();
      const type = types.find(({ id }) => id === request.query['type']) ?? (types.length === 1 ? types[0] : undefined);
      if (type === undefined)
        return { template: 'svc/automation-types', title: 'New automation', data: typeChoices(automations, types) };
      const draft = {
        ...(fillDefaults(taskSchema, { name: '', author_id: request.user.id }) as TaskDraft),
        type: type.id,
        source: { kind: type.sources[0] },
      };
      return editPage(automations, null, { draft, errors: {} });
    },
    actions: { save: (request) => save(automations, request) },
  };
}

async function editPage(
  automations: Automations,
  task: Task | null,
  typed: Pick<Parameters<typeof taskEditView>[1], 'draft' | 'errors'>,
): Promise<AdminView> {
  return {
    template: 'svc/automation-edit',
    title: task === null ? 'New automation' : task.name,
    data: await taskEditView(automations, { ...typed, id: task?.id ?? null }),
  };
}

async function save(automations: Automations, request: AdminRequest): Promise<AdminActionResult> {
  const { tasks, types, runs } = automations;
  const before = readText(request, 'id') === '' ? null : await requireTaskOfForm(automations, request);
  const type = await types.get(before?.type ?? readText(request, 'type'));
  if (type === undefined)
    return withNotice(
      'error',
      'The automation was not saved: no active plugin provides its type. Activate the plugin under Plugins.',
    );
  const draft = await readTaskForm(request, type, before);
  return withFieldErrors(
    async () => {
      const task = before === null ? await tasks.create(draft) : await tasks.update(before.id, draft);
      const redirect = `${taskSlug}?id=${String(task.id)}`;
      if (readText(request, 'then') !== 'run' || task.status === 'paused')
        return withNotice('success', `${task.name} saved.${task.status === 'paused' ? ' It is paused.' : ''}`, {
          redirect,
        });
      const run = await runs.run(task.id, 'page');
      return withNotice(run.state === 'failed' ? 'error' : 'success', `${task.name} saved. ${run.message}`, {
        redirect,
      });
    },
    (errors) => editPage(automations, before, { draft, errors }),
    inputName,
  );
}

/** A task as typed in the form: members may be of any type. */
export type TaskDraft = Readonly<Record<string, unknown>>;

/** Reads the form of a task. Without a typed or uploaded CSV, the saved one is used. */
async function readTaskForm(request: AdminRequest, type: AutomationTaskType, before: Task | null): Promise<TaskDraft> {
  const schedule = readText(request, 'schedule');
  return {
    ...readForm(taskSchema, request.form, { paths: ['name', 'author_id', 'limits', 'attempts'] }),
    type: type.id,
    settings: readForm(type.settings, request.form, { group: 'settings' }),
    source: await readSource(request, before),
    schedule:
      schedule === 'cron'
        ? readText(request, 'cron').trim()
        : namedSchedules.some(({ value }) => value === schedule)
          ? schedule
          : '',
  };
}

async function readSource(request: AdminRequest, before: Task | null): Promise<TaskDraft> {
  const { kind } = readGroup(request, 'source');
  const schema = sourceSchema(kind);
  if (schema === undefined) return { kind };
  const read = readForm(schema, request.form, { group: 'source' });
  return {
    kind,
    ...read,
    ...(kind === 'csv' && { text: await readCsvText(request, String(read['text'] ?? ''), before) }),
  };
}

async function readCsvText({ files }: AdminRequest, typed: string, before: Task | null): Promise<string> {
  const file = files?.['file'];
  if (file && file.size > 0) return readFile(file.path, 'utf8');
  if (typed.trim() !== '') return typed;
  return before?.source.kind === 'csv' && typed === '' ? before.source.text : '';
}
