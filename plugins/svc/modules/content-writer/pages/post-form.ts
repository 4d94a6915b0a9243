import { localMinute, momentOf, readNumber, valueAt, type User, type FieldErrors } from '#plugin-api';
import type { ContentWriter } from '../content-writer.ts';
import { defaultPostSettings, saveChoices, typeChoices } from '../posts/post-settings.ts';
import type { PostSettings, SaveChoice } from '../posts/post-settings.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Reads the post settings from the fields `post[...]` of a form. */
export function readPostForm(form: Fields, timezone: string, base: PostSettings = defaultPostSettings): PostSettings {
  const text = (name: string): string | undefined => {
    const typed = valueAt(form, `post.${name}`);
    return typeof typed === 'string' ? typed.trim() : undefined;
  };
  const number = (name: string, before: number): number => {
    const typed = text(name);
    const value = typed === undefined ? before : readNumber(typed);
    return typeof value === 'number' ? value : value === undefined ? before : Number.NaN;
  };
  const date = text('schedule_at');
  return {
    save: saveChoices.find((one) => one === text('save')) ?? base.save,
    type: text('type') ?? base.type,
    author_id: number('author_id', base.author_id),
    category: text('category') ?? base.category,
    tags:
      text('tags')
        ?.split(',')
        .map((tag) => tag.trim())
        .filter((tag) => tag !== '') ?? base.tags,
    schedule_at: date === undefined ? base.schedule_at : parseLocalTime(date, timezone),
    interval_minutes: number('interval_minutes', base.interval_minutes),
  };
}

const saveLabels: Readonly<Record<SaveChoice, string>> = {
  draft: 'Save as draft',
  pending: 'Save for review',
  publish: 'Publish now',
  schedule: 'Schedule',
  none: 'Text only, no post',
};
/** Authors in the list. */
const maxAuthors = 200;

/** Fields for `svc/content-post`. */
export async function postFields(
  writer: ContentWriter,
  user: User,
  {
    settings,
    errors = {},
    several,
  }: { readonly settings: PostSettings; readonly errors?: FieldErrors; readonly several: boolean },
): Promise<Record<string, unknown>> {
  const { host } = writer;
  const types = typeChoices(host, user);
  const type = host.content.postType(settings.type);
  const mayPublish = types.some(({ value }) =>
    user.can(host.content.postType(value)?.capabilities.publish_posts ?? 'do_not_allow'),
  );
  const mayChooseAuthor = user.can(type?.capabilities.edit_others_posts ?? 'edit_others_posts');
  const timezone = await host.site.timezone();
  const field = (name: keyof PostSettings, label: string, more: Fields = {}) => ({
    id: `content-post-${name}`,
    name: `post[${name}]`,
    label,
    value: settings[name],
    error: errors[name],
    ...more,
  });
  return {
    save: field('save', 'Save as', {
      type: 'select',
      options: saveChoices
        .filter((one) => mayPublish || (one !== 'publish' && one !== 'schedule'))
        .map((value) => ({ value, label: saveLabels[value] })),
    }),
    type: field('type', 'Post type', { type: 'select', options: types }),
    author: mayChooseAuthor
      ? field('author_id', 'Author', {
          type: 'select',
          value: String(settings.author_id || user.id),
          options: await authorChoices(writer),
        })
      : null,
    category: field('category', 'Category', { maxlength: 100, help: 'Stored with the post for themes and plugins.' }),
    tags: field('tags', 'Tags', {
      value: settings.tags.join(', '),
      help: 'Separate with commas. Generated tags are added.',
    }),
    date: mayPublish
      ? field('schedule_at', several ? 'First post on' : 'Publish on', {
          value: settings.schedule_at === null ? '' : localMinute(settings.schedule_at, timezone).replace('T', ' '),
          placeholder: '2026-05-15 12:00',
          help: `In the site's time zone (${timezone}).`,
        })
      : null,
    interval: mayPublish
      ? field('interval_minutes', 'Interval in minutes', {
          type: 'number',
          min: 0,
          max: 525_600,
          value: Number.isNaN(settings.interval_minutes) ? '' : settings.interval_minutes,
          help: 'Time between two posts of a batch. 1,440 minutes are one day.',
        })
      : null,
  };
}

async function authorChoices({ host }: ContentWriter): Promise<{ value: string; label: string }[]> {
  const users = await host.users.list({
    roles: ['administrator', 'editor', 'author', 'contributor'],
    limit: maxAuthors,
    orderBy: 'displayName',
  });
  return users.map(({ id, displayName }) => ({ value: String(id), label: displayName, isData: true }));
}

/** Parses `2026-05-15 12:00` in a time zone. Returns milliseconds since the epoch, or null if it is not a date. */
export function parseLocalTime(text: string, timezone: string): number | null {
  return /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$/.test(text.trim()) ? momentOf(text, timezone) : null;
}
