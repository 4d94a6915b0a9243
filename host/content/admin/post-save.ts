import { parseId, RestError, formatDate, withNotice, restError } from '#plugin-api';
import type { AdminActionResult, AdminRequest, Post, PostType, User } from '#plugin-api';
import { hasSameText } from '../posts/revisions.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { listPath, readText } from './form.ts';
import { postVersion, readPostForm, type PostForm, type PostValues } from './post-form.ts';
import { resolveTerms } from './term-fields.ts';

/** What the form of a post shows. */
export interface ShownPost {
  readonly request: AdminRequest;
  /** Null: a new post. */
  readonly post: Post | null;
  /** The entered values when the form is shown again. */
  readonly typed?: PostValues;
  /** An autosave whose text is shown in place of the post's. */
  readonly restored?: Post;
  readonly errors?: Readonly<Record<string, string>>;
  readonly conflict?: Conflict;
}

export type ShowPost = (shown: ShownPost) => Promise<NonNullable<AdminActionResult['page']>>;

/** Why the form was not saved: the post is newer than the form. */
interface Conflict {
  /** Who changed the post, and when. */
  readonly text: string;
  /** Id of the post. */
  readonly id: number;
  /** Page that compares both texts. Null: they are the same. */
  readonly compareHref: string | null;
}

interface Sent {
  readonly request: AdminRequest;
  readonly post: Post | null;
}

/** Thrown when a post changed after its form was opened. */
class PostChangedError extends Error {}

/** Saves the form. A version that is newer than the form is not replaced: 409 with the form, the typed text and what to do. */
export async function savePost(
  given: ContentPagesDependencies,
  type: PostType,
  sent: Sent & { readonly show: ShowPost },
): Promise<AdminActionResult> {
  const { request, post, show } = sent;
  const form = await readPostForm(given, type, { request, post });
  const showErrors = async (messages: Readonly<Record<string, string>>): Promise<AdminActionResult> =>
    withNotice('error', 'Nothing was saved. Correct the marked fields.', {
      page: await show({ request, post, typed: form.values, errors: messages }),
      data: { errors: messages },
      status: 400,
    });
  if (post !== null && !isCurrent(form, post)) return showConflict(given, type, { ...sent, post, form });
  if (Object.keys(form.errors).length > 0) return showErrors(form.errors);
  try {
    const saved = await write(given, type, { request, post, form });
    return withNotice('success', savedNotice(type, saved, post), { redirect: `${listPath(type)}/edit?id=${saved.id}` });
  } catch (error) {
    if (error instanceof PostChangedError && post !== null)
      return showConflict(given, type, { ...sent, post: (await given.parts.store.get(post.id)) ?? post, form });
    if (error instanceof RestError && error.code === 'empty_content')
      return showErrors({ title: 'Enter a title or some content.' });
    if (error instanceof RestError && error.code === 'rest_post_invalid_id')
      return showErrors({
        parent: 'Choose another parent page. This one is a child of this page or no longer exists.',
      });
    // Whatever else is refused: the form comes back with what was typed.
    if (error instanceof RestError && error.status === 400)
      return withNotice('error', error.message, {
        page: await show({ request, post, typed: form.values }),
        status: 400,
      });
    throw error;
  }
}

function isCurrent({ version }: PostForm, stored: Post): boolean {
  return version === '' || version === postVersion(stored);
}

async function write(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post, form }: Sent & { readonly form: PostForm },
): Promise<Post> {
  const { writer, autosaves } = given.parts;
  const terms = await resolveTerms(given, form.values.terms ?? {}, request.user);
  const input = { ...form.input, ...(Object.keys(terms).length > 0 && { terms }) };
  if (post === null) return writer.create({ ...input, type: type.name }, { as: request.user });
  const saved = await writer.update(post.id, input, {
    as: request.user,
    expect: (stored) => {
      if (!isCurrent(form, stored)) throw new PostChangedError();
    },
  });
  const autosave = await autosaves.find(post.id, request.user.id);
  // Another text is of another tab: it stays.
  if (autosave && hasSameText(autosave, saved)) await autosaves.discard(post.id, request.user.id);
  return saved;
}

/** The form with the typed text, which is stored as the user's autosave as well. */
async function showConflict(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post, form, show }: Sent & { readonly post: Post; readonly form: PostForm; readonly show: ShowPost },
): Promise<AdminActionResult> {
  const { title, content, excerpt } = form.values;
  const text = type.supports.includes('excerpt') ? { title, content, excerpt } : { title, content };
  const autosave = await given.parts.autosaves.save(post, text, request.user);
  const conflict = {
    text: await describeChange(given, type, post),
    id: post.id,
    compareHref: autosave && comparePath(type, post, autosave),
  };
  return {
    page: await show({ request, post, typed: form.values, errors: form.errors, conflict }),
    data: { conflict },
    status: 409,
  };
}

/** Who changed the post last, and when: a sentence. */
async function describeChange(given: ContentPagesDependencies, type: PostType, post: Post): Promise<string> {
  const time = formatDate(post.modified, 'dateTime', await given.site.timezone());
  const name = type.singularLabel.toLowerCase();
  const [id = 0] = await given.parts.store.revisionIds(post.id);
  const revision = await given.parts.store.get(id);
  // Changes of other fields than the text leave no revision.
  const author = revision && hasSameText(revision, post) ? await authorName(given, revision) : '';
  return author === '' ? `This ${name} was changed on ${time}.` : `${author} changed this ${name} on ${time}.`;
}

/**
 * Stores the typed text as the user's autosave, for the script of the editor. A post that does not exist yet is created as a
 * draft, as in WordPress.
 */
export async function autosavePost(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post }: Sent,
): Promise<AdminActionResult> {
  const { autosaves, writer } = given.parts;
  const text = readAutosavedText(type, request);
  const time = formatDate(given.now(), 'time', await given.site.timezone()).slice(0, hoursAndMinutes);
  if (post !== null) {
    await autosaves.save(post, text, request.user);
    const version = readText(request, 'version') ?? '';
    const isNewer = version !== '' && version !== postVersion(post);
    return { data: { time, newer: isNewer ? await describeChange(given, type, post) : null } };
  }
  if (Object.values(text).every((value) => value.trim() === '')) return { data: { time: null, newer: null } };
  const created = await writer.create({ ...text, type: type.name, status: 'draft' }, { as: request.user });
  const url = given.admin.url(`${listPath(type)}/edit`);
  return {
    data: {
      ...{ time, newer: null, id: created.id, version: postVersion(created), url: `${url}?id=${created.id}` },
      viewUrl: type.public ? await given.parts.permalinks.url(created) : null,
    },
  };
}

const hoursAndMinutes = '12:04'.length;

function readAutosavedText(type: PostType, request: AdminRequest): Record<string, string> {
  const names = ['title', 'content', ...(type.supports.includes('excerpt') ? ['excerpt'] : [])];
  return Object.fromEntries(names.map((name) => [name, readText(request, name) ?? '']));
}

/** Deletes the user's autosave. */
export async function discardAutosave(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post }: Sent,
): Promise<AdminActionResult> {
  if (post === null) return { redirect: listPath(type) };
  await given.parts.autosaves.discard(post.id, request.user.id);
  return withNotice('success', 'Unsaved text discarded.', { redirect: `${listPath(type)}/edit?id=${post.id}` });
}

/** The user's autosave of a post, if it is newer than the post: when it was made, and where to compare and restore it. */
export async function newerAutosave(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post }: { readonly request: AdminRequest; readonly post: Post },
): Promise<{ readonly date: number; readonly compareHref: string; readonly restoreHref: string } | null> {
  const autosave = await given.parts.autosaves.find(post.id, request.user.id);
  if (autosave === null || autosave.modified <= post.modified || hasSameText(autosave, post)) return null;
  return {
    date: autosave.modified,
    compareHref: comparePath(type, post, autosave),
    restoreHref: `${listPath(type)}/edit?id=${post.id}&autosave=1`,
  };
}

/** Admin path of the page that compares a post with another version, by default the newest one before it. */
export function comparePath(type: PostType, post: Pick<Post, 'id'>, other?: Pick<Post, 'id'>): string {
  const sides = other ? `&from=${post.id}&to=${other.id}` : '';
  return `${listPath(type)}/revisions?id=${post.id}${sides}`;
}

/** Stores the text of a revision in its post. */
export async function restoreRevision(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post }: { readonly request: AdminRequest; readonly post: Post },
): Promise<AdminActionResult> {
  const { store, writer } = given.parts;
  const revision = await store.get(parseId(readText(request, 'revision')));
  if (revision?.type !== 'revision' || revision.parentId !== post.id)
    throw restError(404, 'rest_post_invalid_id', 'This revision no longer exists.');
  const { title, content, excerpt } = revision;
  await writer.update(post.id, { title, content, excerpt }, { as: request.user });
  await given.hooks.doActionAsync('wp_restore_post_revision', post.id, revision.id);
  return withNotice('success', 'Revision restored.', { redirect: `${listPath(type)}/edit?id=${post.id}` });
}

function savedNotice({ singularLabel }: PostType, saved: Post, before: Post | null): string {
  if (saved.status === 'future') return `${singularLabel} scheduled.`;
  if (saved.status === 'publish' && before?.status !== 'publish') return `${singularLabel} published.`;
  return `${singularLabel} saved.`;
}

/** Empty if the user no longer exists. */
export async function authorName(
  { users }: Pick<ContentPagesDependencies, 'users'>,
  { authorId }: Post,
): Promise<string> {
  const author = authorId > 0 ? await users.get(authorId) : null;
  return author === null ? '' : nameOf(author);
}

export function nameOf({ displayName, login }: Pick<User, 'displayName' | 'login'>): string {
  return displayName || login;
}
