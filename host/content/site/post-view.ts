import { escapeHtml, insertAttributes, translateText } from '#plugin-api';
import type { Post, User } from '#plugin-api';
import { listPath } from '../admin/form.ts';
import { htmlToText } from '../html/text.ts';
import { taxonomiesOf } from '../taxonomies/taxonomies.ts';
import type { PublicSiteDependencies } from './site-page.ts';

export type PostView = Readonly<Record<string, unknown>>;

/** Instead of the excerpt of a post with a password. */
export const lockedText = 'This post is protected by a password. Open it to enter the password.';

/** Template data of a post. @param isUnlocked the visitor knows its password. */
async function postView(given: PublicSiteDependencies, post: Post, isUnlocked: boolean): Promise<PostView> {
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
    title: views.safe((await renderer.publicTitle(post)) || escapeHtml(translateText('Untitled'))),
    link: await permalinks.url(post),
    date: post.date,
    isoDate: new Date(post.date).toISOString(),
    classes: classes.join(' '),
    author: post.authorId > 0 ? ((await given.users.get(post.authorId))?.displayName ?? '') : '',
    image: post.password === '' || isUnlocked ? await featuredImage(given, post) : null,
  };
}

/** Posts of a list, with their first category. */
export async function listedPostViews(
  given: PublicSiteDependencies,
  posts: readonly Post[],
): Promise<readonly PostView[]> {
  const { terms, renderer } = given.parts;
  const byPost = await terms.ofPosts(posts.map(({ id }) => id));
  const categories = new Map(
    posts.map(({ id }) => [
      id,
      (byPost.get(id) ?? []).find(({ taxonomy, slug }) => taxonomy === 'category' && slug !== 'uncategorized'),
    ]),
  );
  const links = await terms.links([...categories.values()].filter((term) => term !== undefined));
  return Promise.all(
    posts.map(async (post) => {
      const category = categories.get(post.id);
      const excerpt = post.password === '' ? await renderer.excerpt(post) : `<p>${lockedText}</p>`;
      return {
        ...(await postView(given, post, false)),
        excerpt: given.views.safe(excerpt),
        label: category === undefined ? null : { name: category.name, href: links.get(category.id) ?? '' },
      };
    }),
  );
}

/** Tables scroll where they are wider than the page, so the keyboard must reach them. */
export function focusTables(html: string): Promise<string> {
  return insertAttributes(html, 'table', () => 'tabindex="0"');
}

export async function singlePostView(
  given: PublicSiteDependencies,
  { post, user, isUnlocked }: { readonly post: Post; readonly user: User; readonly isUnlocked: boolean },
): Promise<PostView> {
  const view = await postView(given, post, isUnlocked);
  const reader = { isUnlocked, viewer: user.id > 0 ? user : undefined };
  const editPath = `${listPath({ name: post.type })}/edit`;
  return {
    ...view,
    content: given.views.safe(await focusTables(await given.parts.renderer.content(post, reader))),
    taxonomies: await termLinks(given, post),
    ...(await neighbors(given, post)),
    isLocked: !isUnlocked,
    isPage: post.type !== 'post',
    editUrl: user.id > 0 && user.can('edit_post', post) ? `/admin/${editPath}?id=${post.id}` : null,
  };
}

/** The terms of a post by taxonomy, with links to their archives. */
async function termLinks({ parts }: PublicSiteDependencies, post: Post): Promise<readonly PostView[]> {
  const shown = taxonomiesOf(parts.taxonomies, post.type).filter((taxonomy) => taxonomy.public);
  if (shown.length === 0) return [];
  const terms = (await parts.terms.ofPosts([post.id])).get(post.id) ?? [];
  const links = await parts.terms.links(terms);
  return shown
    .map(({ name, label }) => ({
      label,
      terms: terms
        .filter(({ taxonomy }) => taxonomy === name)
        .map((term) => ({ name: term.name, href: links.get(term.id) ?? '' })),
    }))
    .filter((taxonomy) => taxonomy.terms.length > 0);
}

/** The published posts before and after a post. */
async function neighbors(given: PublicSiteDependencies, post: Post): Promise<PostView> {
  if (post.type !== 'post' || post.status !== 'publish') return {};
  const { store, renderer, permalinks } = given.parts;
  const link = async (found: readonly Post[]): Promise<PostView | null> => {
    const [neighbor] = found;
    if (neighbor === undefined) return null;
    return { title: given.views.safe(await renderer.publicTitle(neighbor)), href: await permalinks.url(neighbor) };
  };
  return {
    older: await link(await store.find({ before: post.date, limit: 1 })),
    newer: await link(await store.find({ after: post.date, order: 'asc', limit: 1 })),
  };
}

/** Plain-text description for search engines. */
export async function plainDescription({ parts: { renderer } }: PublicSiteDependencies, post: Post): Promise<string> {
  return htmlToText(await renderer.excerpt(post)).slice(0, 300);
}

async function featuredImage(
  { parts: { media }, hooks }: PublicSiteDependencies,
  post: Post,
): Promise<Readonly<Record<string, unknown>> | null> {
  const image = post.featuredMediaId > 0 ? await media.get(post.featuredMediaId) : null;
  return image !== null && !image.isPrivate && image.mimeType.startsWith('image/')
    ? {
        ...{ url: image.url, alt: image.alt, width: image.width, height: image.height },
        attributes: await hooks.applyFiltersAsync('wp_get_attachment_image_attributes', {}, image),
      }
    : null;
}
