import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import { inputName } from '../../../admin-ui/setting-field.ts';
import { automationsOf } from '../automations.ts';
import { defaults } from '../tasks/task-store.ts';
import { readTask, type TaskDraft } from './task-form.ts';
import { taskEditView, typeChoices } from './task-edit-view.ts';
import { taskOfForm, taskOfQuery } from './task-of.ts';
import { taskSlug } from './task-slugs.ts';

const template = 'svc/automation-edit';

/** Makes and edits a task: first what kind of work, then all that is set of it. */
export function taskEditPage(context: ServiceContext): AdminPageBody {
  return {
    render: async (request) => {
      if (request.query['id'] !== undefined) {
        const task = await taskOfQuery(context, request);
        return {
          template,
          data: await taskEditView(context, { draft: task as unknown as TaskDraft, id: task.id, errors: {} }),
        };
      }
      const { list } = automationsOf(context).types;
      const types = await list();
      const type = types.find(({ id }) => id === request.query['type']) ?? (types.length === 1 ? types[0] : undefined);
      if (type === undefined) return { template: 'svc/automation-types', data: typeChoices(context, types) };
      const draft = {
        ...defaults,
        name: '',
        type: type.id,
        author_id: request.user.id,
        source: { kind: type.sources[0] },
      };
      return { template, data: await taskEditView(context, { draft, id: null, errors: {} }) };
    },
    actions: { save: (request) => save(context, request) },
  };
}

async function save(context: ServiceContext, request: AdminRequest): Promise<AdminActionResult> {
  const { tasks, types, runs } = automationsOf(context);
  const before = readText(request, 'id') === '' ? null : await taskOfForm(context, request);
  const type = await types.get(before?.type ?? readText(request, 'type'));
  if (type === undefined)
    return {
      notice: {
        kind: 'error',
        text: 'Nothing was saved: no plugin offers this kind of work at the moment. Switch its plugin on, under Plugins.',
      },
    };
  const draft = await readTask(request, type, before);
  return withFieldErrors(
    async () => {
      const task = before === null ? await tasks.create(draft) : await tasks.update(before.id, draft);
      const redirect = `${taskSlug}?id=${String(task.id)}`;
      if (readText(request, 'then') !== 'run' || task.status === 'paused')
        return {
          notice: {
            kind: 'success',
            text: `${task.name} is saved.${task.status === 'paused' ? ' It is paused.' : ''}`,
          },
          redirect,
        };
      const run = await runs.run(task.id, 'page');
      return {
        notice: { kind: run.state === 'failed' ? 'error' : 'success', text: `${task.name} is saved. ${run.message}` },
        redirect,
      };
    },
    {
      inputName,
      page: async (errors) => ({
        template,
        data: await taskEditView(context, { draft, id: before?.id ?? null, errors }),
      }),
    },
  );
}
