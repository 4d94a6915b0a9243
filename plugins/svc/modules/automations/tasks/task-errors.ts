import { checkValue, fieldLabel, isRecord, type HostApi } from '#plugin-api';
import type { AutomationSource, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { SettingErrors } from '../../../kit/field-errors.ts';
import { sourceSchemas, taskSchema } from './task.ts';

/** What the validation of a task needs. */
export interface ErrorParts {
  readonly types: readonly AutomationTaskType[];
  readonly host: Pick<HostApi, 'users' | 'content' | 'http'>;
}

type Members = Readonly<Record<string, unknown>>;

/** The validation errors of a task, by path. Cron validates the schedule. */
export async function taskErrors(task: Members, parts: ErrorParts): Promise<SettingErrors> {
  const type = parts.types.find(({ id }) => id === task['type']);
  const errors: Record<string, string> = { ...checkValue(taskSchema, task, { subject: 'label' }).errors };
  if (!type)
    errors['type'] =
      `Type must be one of ${parts.types.map(({ id }) => id).join(', ') || 'none: no active plugin provides a type'}.`;
  else Object.assign(errors, sourceErrors(task['source'], type, parts), await settingsErrors(type, task['settings']));
  const author = task['author_id'];
  if (typeof author === 'number' && author > 0 && !errors['author_id'] && (await parts.host.users.get(author)) === null)
    errors['author_id'] = 'Author: this user does not exist.';
  return errors;
}

async function settingsErrors(type: AutomationTaskType, settings: unknown): Promise<SettingErrors> {
  if (!isRecord(settings)) return { settings: 'Settings must be an object.' };
  const { errors } = checkValue(type.settings, settings, { path: 'settings', subject: 'label' });
  if (Object.keys(errors).length > 0) return errors;
  const own = (await type.check?.(settings)) ?? {};
  return Object.fromEntries(
    Object.entries(own).map(([name, sentence]) => [
      `settings.${name}`,
      startsLikeSentence(sentence)
        ? sentence
        : `${fieldLabel(name, type.settings.properties?.[name] ?? {})}: ${sentence}`,
    ]),
  );
}

const startsLikeSentence = (text: string): boolean => /^\p{Lu}/u.test(text);

const sourceNames: Readonly<Record<AutomationSource, string>> = {
  list: 'a list',
  csv: 'CSV',
  rss: 'a feed',
  posts: 'posts',
};

function sourceErrors(source: unknown, { sources, label }: AutomationTaskType, { host }: ErrorParts): SettingErrors {
  const kind = isRecord(source) ? sources.find((one) => one === source['kind']) : undefined;
  if (!isRecord(source) || kind === undefined)
    return {
      'source.kind': `Source of ${label} must be ${sources.map((one) => `${sourceNames[one]} (${one})`).join(' or ')}.`,
    };
  const { errors } = checkValue(sourceSchemas[kind], source, { path: 'source', subject: 'label' });
  return {
    ...(kind === 'posts' && postErrors(source, host)),
    ...Object.fromEntries(Object.entries(errors).map(named)),
  };
}

/** An error in a list names the line. */
function named([path, sentence]: readonly [string, string]): [string, string] {
  const [, at] = /^source\.items\[(\d+)\]$/.exec(path) ?? [];
  return at === undefined
    ? [path, sentence]
    : ['source.items', sentence.replace(/^List/, `Line ${String(Number(at) + 1)} of the list`)];
}

function postErrors({ post_type: type, status }: Members, { content }: ErrorParts['host']): SettingErrors {
  const types = content.postTypes().map(({ name }) => name);
  const statuses = content.postStatuses().map(({ name }) => name);
  return {
    ...(!types.some((name) => name === type) && {
      'source.post_type': `Post type must be one of ${types.join(', ')}.`,
    }),
    ...(!['any', ...statuses].some((name) => name === status) && {
      'source.status': 'Post status must be an existing status, or any.',
    }),
  };
}
