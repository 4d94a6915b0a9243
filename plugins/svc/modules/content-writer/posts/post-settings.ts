import type { HostApi, User } from '#plugin-api';

/** What a text is saved as. `none`: it is stored as a text, without a post. */
export const saveChoices = ['none', 'draft', 'pending', 'publish', 'schedule'] as const;
export type SaveChoice = (typeof saveChoices)[number];

export interface PostSettings {
  readonly save: SaveChoice;
  /** A post type. */
  readonly type: string;
  /** 0 for the user who requested the text. */
  readonly author_id: number;
  /** One name; empty for none. */
  readonly category: string;
  /** Added to the generated tags. */
  readonly tags: readonly string[];
  /** For `schedule`: publication time of the first post, in milliseconds since the epoch. */
  readonly schedule_at: number | null;
  /** For `schedule`: minutes between two posts of a batch. */
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
const maxTags = 20;
/** A year. */
const longestInterval = 525_600;

/**
 * The errors of post settings, including missing rights of the user, by name of the member.
 *
 * @param user null for commands, which have all rights
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
    return { type: `The post type ${settings.type} does not exist or has no editor.` };
  const may = (capability: string): boolean => user === null || user.can(capability);
  if (!may(type.capabilities.create_posts))
    errors['type'] = `Your account is not allowed to create ${type.label.toLowerCase()}.`;
  if ((settings.save === 'publish' || settings.save === 'schedule') && !may(type.capabilities.publish_posts))
    errors['save'] =
      `Your account is not allowed to publish ${type.label.toLowerCase()}. Save them as drafts or for review.`;
  if (settings.author_id !== 0 && settings.author_id !== user?.id) {
    if (!may(type.capabilities.edit_others_posts))
      errors['author_id'] = 'Your account is not allowed to choose another author.';
    else if ((await users.get(settings.author_id)) === null) errors['author_id'] = 'This user does not exist.';
  }
  if (settings.save === 'schedule' && settings.schedule_at === null)
    errors['schedule_at'] = 'Enter the publication time, such as 2026-05-15 12:00.';
  if (!(settings.interval_minutes >= 0 && settings.interval_minutes <= longestInterval))
    errors['interval_minutes'] = 'The interval must be from 0 minutes to one year.';
  if ([...settings.category].length > longestName)
    errors['category'] = `A category can have at most ${String(longestName)} characters.`;
  if (settings.tags.length > maxTags || settings.tags.some((tag) => [...tag].length > longestName))
    errors['tags'] = `Enter at most ${String(maxTags)} tags of up to ${String(longestName)} characters each.`;
  return errors;
}

/** Post types that this user can create. */
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
