import { formFields, inputId, isRecord, type FieldErrors, type FormField } from '#plugin-api';
import type { AutomationSource, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { Automations } from '../automations.ts';
import type { TaskDraft } from './task-edit.page.ts';
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
  const source = isRecord(draft['source']) ? draft['source'] : {};
  const limits = isRecord(draft['limits']) ? draft['limits'] : {};
  const schedule = String(draft['schedule'] ?? '');
  const isNamed = namedSchedules.some(({ value }) => value === schedule);
  return {
    id,
    isNew: id === null,
    type: type && { id: type.id, label: type.label, description: type.description },
    typeIsGone: type === undefined,
    name: draft['name'],
    namePlaceholder: type?.label,
    // The notice above shows a single error.
    errors:
      Object.keys(errors).length < 2
        ? []
        : Object.entries(errors).map(([path, sentence]) => ({
            sentence,
            href: path === '' ? '' : `#${path === 'schedule' && !isNamed ? 'cron' : fieldId(path)}`,
          })),
    error: Object.fromEntries(
      Object.entries(errors).map(([path, sentence]) => [
        path === 'schedule' && !isNamed ? 'cron' : path.replaceAll('.', '_'),
        sentence,
      ]),
    ),
    fields: type ? settingsFields(type, draft, errors) : [],
    sources: (type?.sources ?? []).map((kind) => ({
      kind,
      id: `source-${kind}`,
      label: sourceLabels[kind][0],
      help: sourceLabels[kind][1],
      checked: kind === source['kind'],
      [`is_${kind}`]: true,
      ...sourceValues(automations, kind, source),
    })),
    onlySource: type?.sources.length === 1,
    schedule: isNamed ? schedule : 'cron',
    schedules: [...namedSchedules, { value: 'cron', label: 'Cron expression' }],
    cron: isNamed ? '' : schedule,
    author: draft['author_id'],
    authors: [
      { value: '0', label: 'No author' },
      ...users.map((user) => ({ value: String(user.id), label: user.displayName })),
    ],
    limitRun: limits['run'] === 0 ? '' : limits['run'],
    limitDay: limits['day'] === 0 ? '' : limits['day'],
    attempts: draft['attempts'],
    canRun: draft['status'] !== 'paused',
    pluginsHref: host.admin.url('plugins'),
  };
}

function sourceValues(
  { host }: Automations,
  kind: AutomationSource,
  source: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const mine = source['kind'] === kind ? source : {};
  if (kind === 'list') return { items: Array.isArray(mine['items']) ? mine['items'].join('\n') : '' };
  if (kind === 'csv') return { text: typeof mine['text'] === 'string' ? mine['text'] : '' };
  if (kind === 'rss') return { url: mine['url'] ?? '' };
  return {
    post_type: mine['post_type'] ?? 'post',
    types: host.content
      .postTypes()
      .filter(({ name, showInAdmin }) => showInAdmin && name !== 'revision')
      .map(({ name, label }) => ({ value: name, label })),
    status: mine['status'] ?? 'publish',
    statuses: [
      { value: 'any', label: 'Any except trash' },
      ...host.content
        .postStatuses()
        .filter(({ internal }) => !internal)
        .map(({ name, label }) => ({ value: name, label })),
    ],
    category: mine['category'] ?? '',
    search: mine['search'] ?? '',
    changed_since: mine['changed_since'] ?? '',
    again: mine['again'] === true,
  };
}

function settingsFields(type: AutomationTaskType, draft: TaskDraft, errors: FieldErrors): readonly FormField[] {
  const below = Object.entries(errors).filter(([path]) => path.startsWith('settings.'));
  return formFields(type.settings, {
    values: draft['settings'],
    errors: Object.fromEntries(below.map(([path, sentence]) => [path.slice('settings.'.length), sentence])),
    group: 'settings',
    id: 'settings',
  });
}

/** The element id of the field with an error. */
function fieldId(path: string): string {
  const [head = '', ...rest] = path.replace(/\[\d+\]$/, '').split('.');
  return path === 'source.kind' ? 'source' : inputId(rest.join('.'), head);
}
