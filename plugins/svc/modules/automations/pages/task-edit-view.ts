import type { AutomationSource, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { ServiceContext } from '../../../wiring.ts';
import { inputName } from '../../../admin-ui/setting-field.ts';
import { automationsOf } from '../automations.ts';
import type { SettingErrors } from '../tasks/settings-schema.ts';
import { isMembers } from '../tasks/settings-schema.ts';
import { settingsFields } from './settings-fields.ts';
import type { TaskDraft } from './task-form.ts';
import { namedSchedules } from './task-words.ts';
import { taskEditSlug, taskSlug, tasksSlug } from './task-slugs.ts';

export interface Typed {
  readonly draft: TaskDraft;
  /** Null: a new one. */
  readonly id: number | null;
  readonly errors: SettingErrors;
}

const sourceLabels: Readonly<Record<AutomationSource, readonly [label: string, help: string]>> = {
  list: ['A list', 'One item a line.'],
  csv: ['CSV', 'One item a row; the columns are at hand as placeholders.'],
  rss: ['A feed', 'Each new entry of an RSS or Atom feed.'],
  posts: ['Posts of this site', 'Each post that matches.'],
};
const mostUsers = 200;

/** The data of `svc/automation-types`. */
export function typeChoices({ host }: ServiceContext, types: readonly AutomationTaskType[]): Record<string, unknown> {
  return {
    types: types.map(({ id, label, description, sources }) => ({
      label,
      description,
      href: `${host.admin.url(taskEditSlug)}?type=${id}`,
      sources: sources.map((source) => sourceLabels[source][0].toLowerCase()).join(', '),
    })),
    pluginsHref: host.admin.url('plugins'),
    listHref: host.admin.url(tasksSlug),
  };
}

/** The data of `svc/automation-edit`. */
export async function taskEditView(
  context: ServiceContext,
  { draft, id, errors }: Typed,
): Promise<Record<string, unknown>> {
  const { host } = context;
  const { types } = automationsOf(context);
  const [type, users] = await Promise.all([
    types.get(String(draft['type'])),
    host.users.list({ limit: mostUsers, orderBy: 'displayName' }),
  ]);
  const source = isMembers(draft['source']) ? draft['source'] : {};
  const limits = isMembers(draft['limits']) ? draft['limits'] : {};
  const schedule = String(draft['schedule'] ?? '');
  const isNamed = namedSchedules.some(({ value }) => value === schedule);
  return {
    id,
    isNew: id === null,
    type: type && { id: type.id, label: type.label, description: type.description },
    typeIsGone: type === undefined,
    name: draft['name'],
    namePlaceholder: type?.label,
    // One alone is in the notice above.
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
    fields: type ? settingsFields(type.settings, { settings: draft['settings'], errors }) : [],
    sources: (type?.sources ?? []).map((kind) => ({
      kind,
      id: `source-${kind}`,
      label: sourceLabels[kind][0],
      help: sourceLabels[kind][1],
      checked: kind === source['kind'],
      [`is_${kind}`]: true,
      ...sourceValues(context, kind, source),
    })),
    onlySource: type?.sources.length === 1,
    schedule: isNamed ? schedule : 'cron',
    schedules: [...namedSchedules, { value: 'cron', label: 'By a cron expression' }],
    cron: isNamed ? '' : schedule,
    author: draft['author_id'],
    authors: [
      { value: '0', label: 'Nobody' },
      ...users.map((user) => ({ value: String(user.id), label: user.displayName })),
    ],
    limitRun: limits['run'] === 0 ? '' : limits['run'],
    limitDay: limits['day'] === 0 ? '' : limits['day'],
    attempts: draft['attempts'],
    canRun: draft['status'] !== 'paused',
    backHref: id === null ? host.admin.url(tasksSlug) : `${host.admin.url(taskSlug)}?id=${String(id)}`,
    backLabel: id === null ? 'All automations' : 'Back to the task',
    pluginsHref: host.admin.url('plugins'),
  };
}

function sourceValues(
  { host }: ServiceContext,
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
      { value: 'any', label: 'Any but trash' },
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

/** Where a sentence's field is: ids of the template, and of the fields of settings. */
function fieldId(path: string): string {
  return path === 'source.kind'
    ? 'source'
    : inputName(path)
        .replaceAll(/[[\]]+/g, '-')
        .replace(/-$/, '');
}
