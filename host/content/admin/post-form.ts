import { parseId, localIso, momentOf } from '#plugin-api';
import { createHash } from 'node:crypto';
import type { AdminRequest, Post, PostInput, PostType, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';
import { readAuthor } from './author-field.ts';
import { readText } from './form.ts';
import { findMetaErrors, readMetaFields } from './meta-fields.ts';
import { readTermFields, type TypedTaxonomies } from './term-fields.ts';

/** Form fields as text. */
export interface PostValues {
  readonly title: string;
  readonly content: string;
  readonly excerpt: string;
  readonly slug: string;
  readonly status: string;
  /** `2026-05-15T12:00` in the time zone of the site, or empty. */
  readonly date: string;
  readonly parent: string;
  readonly order: string;
  readonly image: string;
  readonly password: string;
  /** `open` or `closed`. */
  readonly comments: string;
  /** Id of the user, or empty. */
  readonly author: string;
  /** By taxonomy, if they were entered. */
  readonly terms?: TypedTaxonomies;
  /** By key, if they were entered. */
  readonly meta?: Readonly<Record<string, string>>;
}

export interface PostForm {
  readonly values: PostValues;
  readonly input: PostInput;
  /** Messages by field. The post can be saved only if there are none. */
  readonly errors: Readonly<Record<string, string>>;
  /** `postVersion` of the post that the form was opened with. If empty, any version is replaced. */
  readonly version: string;
}

interface Reading {
  readonly request: AdminRequest;
  /** Null: a new post. */
  readonly post: Post | null;
}

/** Reads the post form and checks what the user can set. */
export async function readPostForm(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post }: Reading,
): Promise<PostForm> {
  const read = (name: string): string => readText(request, name) ?? '';
  const meta = readMetaFields(given, type, { request, post });
  const values: PostValues = {
    title: read('title'),
    content: read('content'),
    excerpt: read('excerpt'),
    slug: read('slug').trim(),
    status: read('status') || 'draft',
    date: read('date').trim(),
    parent: read('parent') || '0',
    order: read('order') || '0',
    image: read('image') || '0',
    password: read('password'),
    comments: read('comments'),
    author: read('author'),
    terms: readTermFields(given, type, request),
    meta,
  };
  const author = await readAuthor(given, type, { user: request.user, post, chosen: values.author });
  const timezone = await given.site.timezone();
  const date = readDate(values.date, { post, timezone });
  const isAllowed = statusChoices(given, { type, post, user: request.user }).some(
    ({ value }) => value === values.status,
  );
  return {
    values,
    input: {
      title: values.title,
      content: values.content,
      status: values.status,
      slug: values.slug,
      password: values.password,
      ...author,
      ...(date !== 'same' && date !== 'wrong' && { date }),
      ...((values.comments === 'open' || values.comments === 'closed') && { commentStatus: values.comments }),
      ...(type.supports.includes('excerpt') && { excerpt: values.excerpt }),
      ...(Object.keys(meta).length > 0 && { meta: withoutEmpty(meta) }),
      ...(type.hierarchical && { parentId: parseId(values.parent) }),
      ...(type.supports.includes('page-attributes') && { menuOrder: parseId(values.order) }),
      ...(type.supports.includes('thumbnail') && { featuredMediaId: parseId(values.image) }),
    },
    errors: {
      ...(await findMetaErrors(given, type, withoutEmpty(meta))),
      ...(date === 'wrong' && { date: 'Enter a date and time, like 2026-05-15 12:00.' }),
      ...(!isAllowed && { status: 'You are not allowed to set this status.' }),
      ...(author === null && { author: 'You are not allowed to choose this author.' }),
      ...passwordErrors(values),
    },
    version: read('version'),
  };
}

function passwordErrors(values: PostValues): Record<string, string> {
  return {
    ...(values.password !== '' &&
      values.status === 'private' && {
        password: 'A private post needs no password. Remove the password, or choose another status.',
      }),
    ...(values.password.length > 255 && { password: 'Use at most 255 characters.' }),
  };
}

/** Differs after each change of a post, also after two in one second, where `modified` is the same. */
export function postVersion(post: Post): string {
  const { modified, title, content, excerpt, slug, status, date, authorId } = post;
  const { parentId, menuOrder, featuredMediaId, password, commentStatus } = post;
  const values = [title, content, excerpt, slug, status, date, authorId, parentId, menuOrder, featuredMediaId];
  const hash = createHash('sha256')
    .update(JSON.stringify([...values, password, commentStatus]))
    .digest('base64url');
  return `${modified}-${hash.slice(0, 22)}`;
}

/** An empty text removes the stored value. */
function withoutEmpty(meta: Readonly<Record<string, string>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(meta).map(([key, value]) => [key, value === '' ? null : value]));
}

/** The form shows minutes only, so an unchanged date keeps its seconds. */
function readDate(
  text: string,
  { post, timezone }: { post: Post | null; timezone: string },
): number | null | 'same' | 'wrong' {
  const shown = post?.isDateSet === true ? localIso(post.date, timezone).slice(0, 16) : '';
  if (text.replace(' ', 'T') === shown) return 'same';
  return text === '' ? null : (momentOf(text, timezone) ?? 'wrong');
}

/** Statuses that the user can set, including the current one. */
export function statusChoices(
  { parts: { statuses } }: ContentPagesDependencies,
  { type, post, user }: { type: PostType; post: Post | null; user: User },
): { value: string; label: string }[] {
  const mayPublish = user.can(type.capabilities.publish_posts);
  const isOffered = (name: string): boolean => {
    const status = statuses.get(name);
    if (status === undefined || status.internal || (name === 'future' && post?.status !== 'future')) return false;
    return name === post?.status || mayPublish || name === 'draft' || name === 'pending';
  };
  return statuses
    .all()
    .filter(({ name }) => isOffered(name))
    .map(({ name, label }) => ({ value: name, label }));
}
