import { translateText } from '#plugin-api';
import type { AdminHome, AdminSearchResult, HomeContext, HomeList, Post, PostQuery, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';
import { listPath } from './form.ts';

const latest = 5;

/** Adds the latest posts and pages to the home page, and for editors what awaits review and their own drafts. */
export async function addContentHome(
  given: ContentPagesDependencies,
  home: AdminHome,
  { user }: HomeContext,
): Promise<AdminHome> {
  if (!user.can('edit_posts')) return home;
  const { store, statuses } = given.parts;
  const shown = statuses.all().filter(({ internal }) => !internal);
  // By type and status, so that an index has the order: a site may have a million posts.
  const find = async ({ status, ...query }: PostQuery): Promise<Post[]> => {
    const shared = { orderBy: 'modified', limit: latest, visibleTo: user, ...query } as const;
    const names = status === undefined ? shown.map(({ name }) => name) : [status];
    const parts = ['post', 'page'].flatMap((type) => names.map((name) => ({ ...shared, type, status: name })));
    const found = await Promise.all(parts.map((part) => store.find(part)));
    const newestFirst = (one: Post, other: Post): number => other.modified - one.modified || other.id - one.id;
    return found.flat().sort(newestFirst).slice(0, latest);
  };
  const [recent, pending, drafts] = await Promise.all([
    find({}),
    user.can('edit_others_posts') ? find({ status: 'pending' }) : [],
    find({ status: 'draft', authors: [user.id] }),
  ]);
  const list = async (init: Omit<HomeList, 'items'>, posts: readonly Post[]): Promise<HomeList> => ({
    ...init,
    items: await Promise.all(posts.map((post) => toItem(given, post, user))),
  });
  const lists = [
    await list({ title: 'Latest content', href: 'posts', empty: 'No posts or pages yet.' }, recent),
    ...(pending.length > 0
      ? [await list({ title: 'Awaiting review', href: 'posts?status=pending', empty: '' }, pending)]
      : []),
    ...(drafts.length > 0 ? [await list({ title: 'Your drafts', href: 'posts?status=draft', empty: '' }, drafts)] : []),
  ];
  return { ...home, lists: [...home.lists, ...lists] };
}

async function toItem(
  { parts, users }: ContentPagesDependencies,
  post: Post,
  user: User,
): Promise<HomeList['items'][number]> {
  const type = parts.types.get(post.type);
  const author = post.authorId > 0 ? ((await users.get(post.authorId))?.displayName ?? '') : '';
  const status = parts.statuses.get(post.status)?.label ?? post.status;
  return {
    title: post.title || translateText('Untitled'),
    ...(type && user.can('edit_post', post) && { href: `${listPath(type)}/edit?id=${String(post.id)}` }),
    note: author === '' ? status : `${translateText(status)}, ${author}`,
    at: post.modified,
  };
}

/** Results of a search, newest first: the search of the admin puts hits in titles before others. */
const mostFound = 50;

/** Posts and pages for the search of the admin. */
export async function findContent(
  { parts }: ContentPagesDependencies,
  { query, user }: { readonly query: string; readonly user: User },
): Promise<AdminSearchResult[]> {
  if (!user.can('edit_posts')) return [];
  const posts = await parts.store.find({
    type: ['post', 'page'],
    status: 'any',
    search: query,
    limit: mostFound,
    visibleTo: user,
  });
  return posts.flatMap((post) => {
    const type = parts.types.get(post.type);
    if (!type || !user.can('edit_post', post)) return [];
    return [
      {
        title: post.title || translateText('Untitled'),
        note: type.singularLabel,
        href: `${listPath(type)}/edit?id=${String(post.id)}`,
      },
    ];
  });
}
