import type { Post, User } from '#plugin-api';
import { pathOf } from '../admin/form.ts';
import { escapeHtml, textOfHtml } from '../html/text.ts';
import type { PublicSiteDependencies } from './site-page.ts';

export type PostView = Readonly<Record<string, unknown>>;

/** What templates show of a post. */
export async function viewOfPost(given: PublicSiteDependencies, post: Post): Promise<PostView> {
  const {
    parts: { renderer, permalinks },
    views,
    hooks,
  } = given;
  const classes = await hooks.applyFiltersAsync(
    'post_class',
    ['post', `post-${post.id}`, `type-${post.type}`, `status-${post.status}`],
    post,
  );
  return {
    id: post.id,
    type: post.type,
    title: views.safe((await renderer.title(post)) || escapeHtml('Untitled')),
    link: await permalinks.of(post),
    date: post.date,
    isoDate: new Date(post.date).toISOString(),
    classes: classes.join(' '),
    author: post.authorId > 0 ? ((await given.users.get(post.authorId))?.displayName ?? '') : '',
    image: await imageOf(given, post),
  };
}

/** One in a list. */
export async function viewOfListed(given: PublicSiteDependencies, post: Post): Promise<PostView> {
  return { ...(await viewOfPost(given, post)), excerpt: given.views.safe(await given.parts.renderer.excerpt(post)) };
}

/** One on a page of its own. */
export async function viewOfSingle(given: PublicSiteDependencies, post: Post, user: User): Promise<PostView> {
  const view = await viewOfPost(given, post);
  const editPath = `${pathOf({ name: post.type })}/edit`;
  return {
    ...view,
    content: given.views.safe(await given.parts.renderer.content(post, user.id > 0 ? user : undefined)),
    isPage: post.type !== 'post',
    editUrl: user.id > 0 && user.can('edit_post', post) ? `/admin/${editPath}?id=${post.id}` : null,
  };
}

/** Plain text for search engines and feeds. */
export async function descriptionOf({ parts: { renderer } }: PublicSiteDependencies, post: Post): Promise<string> {
  return textOfHtml(await renderer.excerpt(post)).slice(0, 300);
}

async function imageOf(
  { parts: { media } }: PublicSiteDependencies,
  post: Post,
): Promise<Readonly<Record<string, unknown>> | null> {
  const image = post.featuredMediaId > 0 ? await media.get(post.featuredMediaId) : null;
  return image !== null && image.mimeType.startsWith('image/')
    ? { url: image.url, alt: image.alt, width: image.width, height: image.height }
    : null;
}
