import { checkValue, fieldLabel, isRecord, isUrl, type HostApi } from '#plugin-api';
import type { AutomationSource, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { SettingErrors } from '../../../kit/field-errors.ts';

/** What the validation of a task needs. */
export interface ErrorParts {
  readonly types: readonly AutomationTaskType[];
  readonly host: Pick<HostApi, 'users' | 'content' | 'http'>;
}

type Members = Readonly<Record<string, unknown>>;

const known = ['name', 'type', 'status', 'settings', 'source', 'schedule', 'author_id', 'limits', 'attempts'];
/** Maximum lengths, and number of lines for `items`. */
export const maxLengths = { items: 10_000, item: 2_000, csv: 2_000_000, address: 2_000, search: 200 } as const;
export const maxValues = { limit: 1_000_000, attempts: 10 } as const;

/** The validation errors of a task, by path. Cron validates the schedule. */
export async function taskErrors(task: Members, parts: ErrorParts): Promise<SettingErrors> {
  const type = parts.types.find(({ id }) => id === task['type']);
  const errors: Record<string, string> = { ...plainErrors(task), ...limitErrors(task['limits']) };
  for (const name of Object.keys(task))
    if (!known.includes(name)) errors[name] = `${name} is not a member of a task. Use ${known.join(', ')}.`;
  if (!type)
    errors['type'] =
      `Type must be one of ${parts.types.map(({ id }) => id).join(', ') || 'none: no active plugin provides a type'}.`;
  else Object.assign(errors, sourceErrors(task['source'], type, parts), await settingsErrors(type, task['settings']));
  const author = task['author_id'];
  if (!isWhole(author, 0, Number.MAX_SAFE_INTEGER)) errors['author_id'] = 'Author must be the id of a user, or 0.';
  else if (author !== 0 && (await parts.host.users.get(author)) === null)
    errors['author_id'] = 'Author: this user does not exist.';
  return errors;
}

function plainErrors({ name, status, schedule, attempts }: Members): SettingErrors {
  const isName = typeof name === 'string' && name.trim() !== '' && name.length <= 200;
  return {
    ...(!isName && { name: 'Name must have 1 to 200 characters.' }),
    ...(status !== 'active' && status !== 'paused' && { status: 'Status must be active or paused.' }),
    ...((typeof schedule !== 'string' || schedule.length > 120) && {
      schedule: 'Schedule must be the name of a schedule, a cron expression, or empty.',
    }),
    ...(!isWhole(attempts, 1, maxValues.attempts) && {
      attempts: `Attempts must be a whole number from 1 to ${String(maxValues.attempts)}.`,
    }),
  };
}

function limitErrors(limits: unknown): SettingErrors {
  if (!isRecord(limits)) return { limits: 'Limits must be an object with run and day.' };
  const labels = { run: 'Items per run', day: 'Items per day' } as const;
  return Object.fromEntries(
    Object.entries(labels).flatMap(([name, label]) =>
      isWhole(limits[name], 0, maxValues.limit)
        ? []
        : [[`limits.${name}`, `${label} must be a whole number from 0 to ${maxValues.limit.toLocaleString('en-GB')}.`]],
    ),
  );
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

const kinds: Readonly<Record<AutomationSource, (source: Members, host: ErrorParts['host']) => SettingErrors>> = {
  list: ({ items }) => {
    if (!Array.isArray(items) || !items.every((item) => typeof item === 'string'))
      return { 'source.items': 'List must contain text only.' };
    const filled = (items as readonly string[]).filter((item) => item.trim() !== '');
    if (filled.length === 0) return { 'source.items': 'List must have at least one line.' };
    if (filled.length > maxLengths.items)
      return { 'source.items': `List may have at most ${maxLengths.items.toLocaleString('en-GB')} lines.` };
    const at = filled.findIndex((item) => item.length > maxLengths.item);
    return at < 0
      ? {}
      : {
          'source.items': `Line ${String(at + 1)} of the list may have at most ${maxLengths.item.toLocaleString('en-GB')} characters.`,
        };
  },
  csv: ({ text }) =>
    typeof text !== 'string' || text.trim() === ''
      ? { 'source.text': 'CSV must have a header line with column names, followed by rows.' }
      : text.length > maxLengths.csv
        ? { 'source.text': 'CSV must not exceed 2 MB.' }
        : {},
  rss: ({ url }) =>
    typeof url === 'string' && isAddress(url)
      ? {}
      : { 'source.url': 'Feed URL must be an http or https URL, such as https://example.com/feed.' },
  posts: (source, host) => ({
    ...(typeof source['post_type'] !== 'string' || !host.content.postType(source['post_type'])
      ? {
          'source.post_type': `Post type must be one of ${host.content
            .postTypes()
            .map(({ name }) => name)
            .join(', ')}.`,
        }
      : {}),
    ...(typeof source['status'] !== 'string' ||
    (source['status'] !== 'any' && !host.content.postStatuses().some(({ name }) => name === source['status']))
      ? { 'source.status': 'Post status must be an existing status, or any.' }
      : {}),
    ...(typeof source['category'] !== 'string' || source['category'].length > maxLengths.search
      ? { 'source.category': `Category may have at most ${String(maxLengths.search)} characters.` }
      : {}),
    ...(typeof source['search'] !== 'string' || source['search'].length > maxLengths.search
      ? { 'source.search': `Search may have at most ${String(maxLengths.search)} characters.` }
      : {}),
    ...(typeof source['changed_since'] !== 'string' || !isDayOrEmpty(source['changed_since'])
      ? { 'source.changed_since': 'Changed since must be a date (YYYY-MM-DD) or empty.' }
      : {}),
    ...(typeof source['again'] !== 'boolean' && { 'source.again': 'Queue changed posts again must be true or false.' }),
  }),
};

const sourceNames: Readonly<Record<AutomationSource, string>> = {
  list: 'a list',
  csv: 'CSV',
  rss: 'a feed',
  posts: 'posts',
};

function sourceErrors(source: unknown, { sources, label }: AutomationTaskType, { host }: ErrorParts): SettingErrors {
  const kind = isRecord(source) ? source['kind'] : undefined;
  const fitting = sources.find((one) => one === kind);
  if (!isRecord(source) || fitting === undefined)
    return {
      'source.kind': `Source of ${label} must be ${sources.map((one) => `${sourceNames[one]} (${one})`).join(' or ')}.`,
    };
  return kinds[fitting](source, host);
}

function isWhole(value: unknown, least: number, greatest: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= greatest;
}

function isAddress(text: string): boolean {
  return text.length <= maxLengths.address && isUrl(text) && /^https?:$/.test(new URL(text).protocol);
}

function isDayOrEmpty(text: string): boolean {
  return text === '' || (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)));
}
