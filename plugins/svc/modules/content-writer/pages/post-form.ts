import type { User } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { readNumber, valueAt } from '../../../admin-ui/setting-field.ts';
import {
  defaultPostSettings,
  saveChoices,
  typeChoices,
  type PostSettings,
  type SaveChoice,
} from '../posts/post-settings.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Settings of posts as a form holds them, in `post[...]`. */
export function readPostForm(form: Fields, timezone: string, base: PostSettings = defaultPostSettings): PostSettings {
  const text = (name: string): string | undefined => {
    const typed = valueAt(form, `post.${name}`);
    return typeof typed === 'string' ? typed.trim() : undefined;
  };
  const number = (name: string, before: number): number => {
    const typed = text(name);
    const value = typed === undefined ? before : readNumber(typed);
    return typeof value === 'number' ? value : value === null ? before : Number.NaN;
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
    schedule_at: date === undefined ? base.schedule_at : momentOf(date, timezone),
    interval_minutes: number('interval_minutes', base.interval_minutes),
  };
}

const words: Readonly<Record<SaveChoice, string>> = {
  draft: 'Save as draft',
  pending: 'Save for review',
  publish: 'Publish at once',
  schedule: 'Publish at a date',
  none: 'Keep it here, without a post',
};
/** Authors to choose from; more help nobody. */
const mostAuthors = 200;

/** Fields for `svc/content-post`. */
export async function postFields(
  context: ServiceContext,
  user: User,
  {
    settings,
    errors = {},
    several,
  }: { readonly settings: PostSettings; readonly errors?: FieldErrors; readonly several: boolean },
): Promise<Record<string, unknown>> {
  const { host } = context;
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
    save: field('save', several ? 'Each text' : 'The text', {
      type: 'select',
      options: saveChoices
        .filter((one) => mayPublish || (one !== 'publish' && one !== 'schedule'))
        .map((value) => ({ value, label: words[value] })),
    }),
    type: field('type', 'Kind of post', { type: 'select', options: types }),
    author: mayChooseAuthor
      ? field('author_id', 'Author', {
          type: 'select',
          value: String(settings.author_id || user.id),
          options: await authorChoices(context),
        })
      : null,
    category: field('category', 'Category', { maxlength: 100, help: 'Kept with the post, for themes and plugins.' }),
    tags: field('tags', 'Tags', {
      value: settings.tags.join(', '),
      help: 'Separated by commas; those that are written come on top.',
    }),
    date: mayPublish
      ? field('schedule_at', several ? 'First one at' : 'At', {
          value: settings.schedule_at === null ? '' : localOf(settings.schedule_at, timezone),
          placeholder: '2026-05-15 12:00',
          help: `On the clock of the site (${timezone}). Only for "Publish at a date".`,
        })
      : null,
    interval: mayPublish
      ? field('interval_minutes', 'Minutes between two', {
          type: 'number',
          min: 0,
          max: 525_600,
          value: Number.isNaN(settings.interval_minutes) ? '' : settings.interval_minutes,
          help: '1,440 is a day. Only for several with a date.',
        })
      : null,
  };
}

async function authorChoices({ host }: ServiceContext): Promise<{ value: string; label: string }[]> {
  const users = await host.users.list({
    roles: ['administrator', 'editor', 'author', 'contributor'],
    limit: mostAuthors,
    orderBy: 'displayName',
  });
  return users.map(({ id, displayName }) => ({ value: String(id), label: displayName }));
}

/** `2026-05-15 12:00` on the clock of a zone, in milliseconds since the epoch; null: it is no date. */
export function momentOf(text: string, timezone: string): number | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)$/.exec(text.trim())?.slice(1).map(Number);
  if (!parts) return null;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0] = parts;
  const wanted = Date.UTC(year, month - 1, day, hour, minute);
  if (month > 12 || day > 31 || hour > 23 || minute > 59) return null;
  // The zone's distance from UTC at about that moment, and then at that very one.
  const once = wanted - offsetOf(wanted, timezone);
  return wanted - offsetOf(once, timezone);
}

/** `2026-05-15 12:00`. Sweden writes dates as ISO 8601 does. */
export function localOf(moment: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(moment);
}

function offsetOf(moment: number, timezone: string): number {
  const [date = '', time = ''] = localOf(moment, timezone).split(' ');
  return Date.parse(`${date}T${time}:00Z`) - Math.floor(moment / 60_000) * 60_000;
}
