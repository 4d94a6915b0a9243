import type { Post, User } from '#plugin-api';
import { listPath } from '../admin/form.ts';
import { escapeHtml, htmlToText } from '../html/text.ts';
import type { PublicSiteDependencies } from './site-page.ts';

export type PostView = Readonly<Record<string, unknown>>;

/** Template data of a post. */
export async function postView(given: PublicSiteDependencies, post: Post): Promise<PostView> {
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
    link: await permalinks.url(post),
    date: post.date,
    isoDate: new Date(post.date).toISOString(),
    classes: classes.join(' '),
    author: post.authorId > 0 ? ((await given.users.get(post.authorId))?.displayName ?? '') : '',
    image: await featuredImage(given, post),
  };
}

export async function listedPostView(given: PublicSiteDependencies, post: Post): Promise<PostView> {
  return { ...(await postView(given, post)), excerpt: given.views.safe(await given.parts.renderer.excerpt(post)) };
}

export async function singlePostView(given: PublicSiteDependencies, post: Post, user: User): Promise<PostView> {
  const view = await postView(given, post);
  const editPath = `${listPath({ name: post.type })}/edit`;
  return {
    ...view,
    content: given.views.safe(await given.parts.renderer.content(post, user.id > 0 ? user : undefined)),
    isPage: post.type !== 'post',
    editUrl: user.id > 0 && user.can('edit_post', post) ? `/admin/${editPath}?id=${post.id}` : null,
  };
}

/** Plain-text description for search engines. */
export async function plainDescription({ parts: { renderer } }: PublicSiteDependencies, post: Post): Promise<string> {
  return htmlToText(await renderer.excerpt(post)).slice(0, 300);
}

async function featuredImage(
  { parts: { media } }: PublicSiteDependencies,
  post: Post,
): Promise<Readonly<Record<string, unknown>> | null> {
  const image = post.featuredMediaId > 0 ? await media.get(post.featuredMediaId) : null;
  return image !== null && !image.isPrivate && image.mimeType.startsWith('image/')
    ? { url: image.url, alt: image.alt, width: image.width, height: image.height }
    : null;
}
