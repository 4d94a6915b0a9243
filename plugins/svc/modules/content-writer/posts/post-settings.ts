import type { HostApi, User } from '#plugin-api';

/** What becomes of a text. `none`: it is kept with the generations, and no post is made. */
export const saveChoices = ['none', 'draft', 'pending', 'publish', 'schedule'] as const;
export type SaveChoice = (typeof saveChoices)[number];

export interface PostSettings {
  readonly save: SaveChoice;
  /** A post type. */
  readonly type: string;
  /** 0: whoever asked for it. */
  readonly author_id: number;
  /** One name; '': none. */
  readonly category: string;
  /** Besides those that are written. */
  readonly tags: readonly string[];
  /** For `schedule`: when the first is published, milliseconds since the epoch. */
  readonly schedule_at: number | null;
  /** For `schedule`: minutes between two of a batch. */
  readonly interval_minutes: number;
}

export const defaultPostSettings: PostSettings = {
  save: 'draft',
  type: 'post',
  author_id: 0,
  category: '',
  tags: [],
  schedule_at: null,
  interval_minutes: 1_440,
};

const longestName = 100;
const mostTags = 20;
/** A year. */
const longestInterval = 525_600;

/**
 * What is wrong with settings of a post, or not allowed to this user, by name of the member.
 *
 * @param user null: a command, which may do everything
 */
export async function postErrors(
  { content, users }: Pick<HostApi, 'content' | 'users'>,
  settings: PostSettings,
  user: User | null,
): Promise<Record<string, string>> {
  if (!saveChoices.includes(settings.save)) return { save: `save must be one of ${saveChoices.join(', ')}.` };
  if (settings.save === 'none') return {};
  const errors: Record<string, string> = {};
  const type = content.postType(settings.type);
  if (type === undefined || settings.type === 'attachment' || !type.showInAdmin)
    return { type: `There is no post type ${settings.type} to write to.` };
  const may = (capability: string): boolean => user === null || user.can(capability);
  if (!may(type.capabilities.create_posts)) errors['type'] = `Your account may not write ${type.label.toLowerCase()}.`;
  if ((settings.save === 'publish' || settings.save === 'schedule') && !may(type.capabilities.publish_posts))
    errors['save'] = `Your account may not publish ${type.label.toLowerCase()}. Save them as drafts or for review.`;
  if (settings.author_id !== 0 && settings.author_id !== user?.id) {
    if (!may(type.capabilities.edit_others_posts))
      errors['author_id'] = 'Your account may not write in the name of others.';
    else if ((await users.get(settings.author_id)) === null) errors['author_id'] = 'There is no such user.';
  }
  if (settings.save === 'schedule' && settings.schedule_at === null)
    errors['schedule_at'] = 'Say when it is to be published, such as 2026-05-15 12:00.';
  if (!(settings.interval_minutes >= 0 && settings.interval_minutes <= longestInterval))
    errors['interval_minutes'] = 'The interval is 0 minutes to a year.';
  if ([...settings.category].length > longestName)
    errors['category'] = `A category has at most ${String(longestName)} characters.`;
  if (settings.tags.length > mostTags || settings.tags.some((tag) => [...tag].length > longestName))
    errors['tags'] = `At most ${String(mostTags)} tags of ${String(longestName)} characters.`;
  return errors;
}

/** Post types this user may write to. */
export function typeChoices(
  { content }: Pick<HostApi, 'content'>,
  user: User,
): { readonly value: string; readonly label: string }[] {
  return content
    .postTypes()
    .filter(
      ({ name, showInAdmin, capabilities }) =>
        name !== 'attachment' && showInAdmin && user.can(capabilities.create_posts),
    )
    .map(({ name, singularLabel }) => ({ value: name, label: singularLabel }));
}
