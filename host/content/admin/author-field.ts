import type { Post, PostType, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';

interface Editing {
  readonly user: User;
  /** Null: a new post. */
  readonly post: Post | null;
}

const maxChoices = 200;

/** Users whom a user can name as author: those who write posts of the type, and the present author. Empty without that right. */
export async function authorChoices(
  { users }: Pick<ContentPagesDependencies, 'users'>,
  { capabilities }: PostType,
  { user, post }: Editing,
): Promise<{ value: string; label: string }[]> {
  if (!user.can(capabilities.edit_others_posts)) return [];
  const all = await users.list({ orderBy: 'displayName', limit: maxChoices });
  const writers = all.filter((one) => one.id === post?.authorId || one.can(capabilities.edit_posts));
  const present = post !== null && post.authorId > 0 ? await users.get(post.authorId) : null;
  if (present !== null && !writers.some(({ id }) => id === present.id)) writers.push(present);
  const choices = writers.map(({ id, displayName }) => ({ value: String(id), label: displayName, isData: true }));
  return post !== null && present === null ? [{ value: '0', label: 'None' }, ...choices] : choices;
}

/** The author that was chosen. An empty text leaves the author as it is. Null: the user cannot choose that one. */
export async function readAuthor(
  given: Pick<ContentPagesDependencies, 'users'>,
  type: PostType,
  { chosen, ...editing }: Editing & { readonly chosen: string },
): Promise<{ readonly authorId?: number } | null> {
  if (chosen === '' || chosen === String(editing.post?.authorId)) return {};
  const choices = await authorChoices(given, type, editing);
  return choices.some(({ value }) => value === chosen) ? { authorId: Number(chosen) } : null;
}
