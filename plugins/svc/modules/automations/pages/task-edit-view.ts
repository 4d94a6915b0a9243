import { formFields, inputId, asRecord, isRecord } from '#plugin-api';
import type { FieldErrors, FieldHints, FormField, FormFieldsInit, JsonSchema } from '#plugin-api';
import type { AutomationSource, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { Automations } from '../automations.ts';
import type { TaskDraft } from './task-edit.page.ts';
import { sourceSchemas, taskSchema } from '../tasks/task.ts';
import { namedSchedules } from './task-labels.ts';
import { taskEditSlug } from './task-slugs.ts';

export interface Typed {
  readonly draft: TaskDraft;
  /** Null for a new task. */
  readonly id: number | null;
  readonly errors: FieldErrors;
}

const sourceLabels: Readonly<Record<AutomationSource, readonly [label: string, help: string]>> = {
  list: ['List', 'One item per line'],
  csv: ['CSV', 'One item per row. Columns are available as placeholders.'],
  rss: ['Feed', 'Each new entry of an RSS or Atom feed'],
  posts: ['Posts of this site', 'Each post that matches the filters'],
};
const maxUsers = 200;

/** The data of `svc/automation-types`. */
export function typeChoices({ host }: Automations, types: readonly AutomationTaskType[]): Record<string, unknown> {
  return {
    types: types.map(({ id, label, description, sources }) => ({
      label,
      description,
      href: `${host.admin.url(taskEditSlug)}?type=${id}`,
      sources: sources.map((source) => sourceLabels[source][0]).join(', '),
    })),
    pluginsHref: host.admin.url('plugins'),
  };
}

/** The data of `svc/automation-edit`. */
export async function taskEditView(
  automations: Automations,
  { draft, id, errors }: Typed,
): Promise<Record<string, unknown>> {
  const { host } = automations;
  const { types } = automations;
  const [type, users] = await Promise.all([
    types.get(String(draft['type'])),
    host.users.list({ limit: maxUsers, orderBy: 'displayName' }),
  ]);
  const source = asRecord(draft['source']);
  const schedule = String(draft['schedule'] ?? '');
  const isNamed = namedSchedules.some(({ value }) => value === schedule);
  return {
    id,
    isNew: id === null,
    type: type && { id: type.id, label: type.label, description: type.description },
    typeIsGone: type === undefined,
    // The notice above shows a single error.
    errors:
      Object.keys(errors).length < 2
        ? []
        : Object.entries(errors).map(([path, sentence]) => ({
            sentence,
            href: path === '' ? '' : `#${path === 'schedule' && !isNamed ? 'cron' : fieldId(path)}`,
          })),
    sourceError: errors['source.kind'],
    task: Object.fromEntries(
      formFields(taskSchema, {
        values: { ...draft, limits: shownLimits(draft['limits']) },
        errors,
        id: 'task',
        paths: ['name', 'limits', 'attempts', 'author_id'],
        hints: {
          name: { ...(type && { placeholder: type.label }) },
          author_id: {
            choices: [
              { value: '0', label: 'No author' },
              ...users.map((user) => ({ value: String(user.id), label: user.displayName, isData: true })),
            ],
          },
        },
      }).map((field) => [field.path.replace('.', '_'), field]),
    ),
    fields: type ? fieldsBelow('settings', type.settings, { values: draft['settings'], errors }) : [],
    sources: (type?.sources ?? []).map((kind) => ({
      kind,
      id: `source-${kind}`,
      label: sourceLabels[kind][0],
      help: sourceLabels[kind][1],
      checked: kind === source['kind'],
      [`is_${kind}`]: true,
      fields: Object.fromEntries(
        fieldsBelow('source', sourceSchemas[kind], {
          values: source['kind'] === kind ? source : {},
          errors: source['kind'] === kind ? errors : {},
          hints: postHints(automations),
        }).map((field) => [field.path, field]),
      ),
    })),
    onlySource: type?.sources.length === 1,
    schedule: isNamed ? schedule : 'cron',
    schedules: [...namedSchedules, { value: 'cron', label: 'Cron expression' }],
    cron: isNamed ? '' : schedule,
    [isNamed ? 'scheduleError' : 'cronError']: errors['schedule'],
    canRun: draft['status'] !== 'paused',
    pluginsHref: host.admin.url('plugins'),
  };
}

/** No limit is shown as an empty field. */
function shownLimits(limits: unknown): unknown {
  return isRecord(limits)
    ? Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, value === 0 ? '' : value]))
    : limits;
}

function postHints({ host: { content } }: Automations): Readonly<Record<string, FieldHints>> {
  const types = content.postTypes().filter(({ name, showInAdmin }) => showInAdmin && name !== 'revision');
  const statuses = content.postStatuses().filter(({ internal }) => !internal);
  const choiceOf = ({ name, label }: { readonly name: string; readonly label: string }) => ({ value: name, label });
  return {
    post_type: { choices: types.map(choiceOf) },
    status: { choices: [{ value: 'any', label: 'Any except trash' }, ...statuses.map(choiceOf)] },
  };
}

/** The fields of a member that has its own schema. */
function fieldsBelow(
  group: string,
  schema: JsonSchema,
  { errors = {}, ...init }: Omit<FormFieldsInit, 'group' | 'id'>,
): readonly FormField[] {
  const below = Object.entries(errors).filter(([path]) => path.startsWith(`${group}.`));
  return formFields(schema, {
    ...init,
    errors: Object.fromEntries(below.map(([path, sentence]) => [path.slice(group.length + 1), sentence])),
    group,
    id: group,
  });
}

/** The element id of the field with an error. */
function fieldId(path: string): string {
  const [head = '', ...rest] = path.replace(/\[\d+\]$/, '').split('.');
  if (path === 'source.kind' || path === 'schedule') return head;
  return head === 'source' || head === 'settings' ? inputId(rest.join('.'), head) : inputId(path, 'task');
}
