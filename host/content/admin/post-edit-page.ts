import { parseId, formatDate, localIso, restError, translateText } from '#plugin-api';
import type { AdminPageBody, AdminRequest, Post, PostType } from '#plugin-api';
import { hasSameText } from '../posts/revisions.ts';
import { autosaveSlug } from '../posts/post-store.ts';
import { authorChoices } from './author-field.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { readQuery, readText } from './form.ts';
import { postVersion, statusChoices, type PostValues } from './post-form.ts';
import {
  authorName,
  autosavePost,
  comparePath,
  discardAutosave,
  nameOf,
  newerAutosave,
  restoreRevision,
  savePost,
  type ShowPost,
} from './post-save.ts';
import { metaFields } from './meta-fields.ts';
import { termFields } from './term-fields.ts';
import { findPost } from './posts-page.ts';

export function createNewPostPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const show = createRenderForm(given, type);
  const find = createFindEditable(given, type);
  /** The post that the first autosave created, if the form is still that of a new post. */
  const findCreated = async (request: AdminRequest): Promise<Post | null> => {
    const id = parseId(readText(request, 'id'));
    return id === 0 ? null : find(request, id);
  };
  return {
    render: (request) => show({ request, post: null }),
    actions: {
      save: async (request) => savePost(given, type, { request, post: await findCreated(request), show }),
      autosave: async (request) => autosavePost(given, type, { request, post: await findCreated(request) }),
      discard: async (request) => discardAutosave(given, type, { request, post: await findCreated(request) }),
    },
  };
}

/** The form of one post, with its revisions. */
export function createEditPostPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const show = createRenderForm(given, type);
  const find = createFindEditable(given, type);
  const findSent = (request: AdminRequest): Promise<Post> => find(request, parseId(readText(request, 'id')));
  return {
    render: async (request) => {
      const post = await find(request, parseId(readQuery(request, 'id')));
      const isWanted = readQuery(request, 'autosave') !== '';
      const autosave = isWanted ? await given.parts.autosaves.find(post.id, request.user.id) : null;
      return show({ request, post, ...(autosave && { restored: autosave }) });
    },
    actions: {
      save: async (request) => savePost(given, type, { request, post: await findSent(request), show }),
      autosave: async (request) => autosavePost(given, type, { request, post: await findSent(request) }),
      discard: async (request) => discardAutosave(given, type, { request, post: await findSent(request) }),
      restore: async (request) => restoreRevision(given, type, { request, post: await findSent(request) }),
    },
  };
}

/**
 * Finds a post that the user of the request edits.
 *
 * @throws RestError 404 without the post, 403 without access, 400 if it is in the trash.
 */
export function createFindEditable(
  given: ContentPagesDependencies,
  type: PostType,
): (request: Pick<AdminRequest, 'user'>, id: number) => Promise<Post> {
  const name = type.singularLabel.toLowerCase();
  return async ({ user }, id) => {
    const post = await findPost(given.parts, type, id);
    if (!user.can('edit_post', post))
      throw restError(403, 'rest_cannot_edit', `You are not allowed to edit this ${name}.`);
    if (post.status === 'trash')
      throw restError(400, 'rest_cannot_edit', `This ${name} is in the trash. Restore it first.`);
    return post;
  };
}

function createRenderForm(given: ContentPagesDependencies, type: PostType): ShowPost {
  return async ({ request, post, restored, errors = {}, conflict = null, ...showing }) => {
    const timezone = await given.site.timezone();
    const typed = restored ? withText(formValues(post, timezone, request.user.id), restored) : showing.typed;
    return {
      template: 'admin/content/post-edit',
      ...(post !== null && post.title !== '' && { title: post.title }),
      data: {
        editor: await editorFiles(given, request),
        imageUrl: await imagePath(given, typed === undefined ? (post?.featuredMediaId ?? 0) : parseId(typed.image)),
        mayUpload: request.user.can('upload_files'),
        author: post === null ? nameOf(request.user) : await authorName(given, post),
        authors: await authorChoices(given, type, { user: request.user, post }),
        id: post?.id ?? null,
        values: typed ?? formValues(post, timezone, request.user.id),
        errors,
        version: post === null ? '' : postVersion(post),
        restored: restored === undefined ? null : formatDate(restored.modified, 'dateTime', timezone),
        autosave: post === null || typed ? null : await newerAutosave(given, type, { request, post }),
        conflict,
        isUnsaved: showing.typed !== undefined && conflict === null,
        timezone,
        isHierarchical: type.hierarchical,
        hasExcerpt: type.supports.includes('excerpt'),
        hasImage: type.supports.includes('thumbnail'),
        hasOrder: type.supports.includes('page-attributes'),
        hasComments: type.supports.includes('comments'),
        commentChoices: [
          ...(post === null ? [{ value: '', label: 'As in the settings' }] : []),
          { value: 'open', label: 'Open' },
          { value: 'closed', label: 'Closed' },
        ],
        statuses: statusChoices(given, { type, post, user: request.user }),
        parents: type.hierarchical ? await parentChoices(given, type, post) : [],
        images: type.supports.includes('thumbnail') ? await imageChoices(given, post) : [],
        taxonomies: await termFields(given, type, { user: request.user, post, typed: typed?.terms }),
        metaFields: await metaFields(given, type, { user: request.user, post, typed: typed?.meta, errors }),
        viewUrl: post !== null && type.public ? await given.parts.permalinks.url(post) : null,
        viewLabel: post?.status === 'publish' ? 'View' : 'Preview',
        mayDelete: post !== null && request.user.can('delete_post', post),
        revisionsHref: comparePath(type, { id: post?.id ?? 0 }),
        revisions: post === null ? [] : await revisionRows(given, post),
      },
    };
  };
}

/** An empty text without an image. */
async function imagePath({ parts: { media } }: ContentPagesDependencies, id: number): Promise<string> {
  const image = id > 0 ? await media.get(id) : null;
  return image === null ? '' : new URL(image.url).pathname;
}

/** Null: they cannot be built, so the page has the textarea alone. */
async function editorFiles(
  given: ContentPagesDependencies,
  { log }: AdminRequest,
): Promise<Awaited<ReturnType<ContentPagesDependencies['editorFiles']>> | null> {
  try {
    return await given.editorFiles();
  } catch (error) {
    log.error('Failed to bundle the files of the editor', { event: 'editor_bundle_failed', error });
    return null;
  }
}

function withText(values: PostValues, { title, content, excerpt }: Post): PostValues {
  return { ...values, title, content, excerpt };
}

function formValues(post: Post | null, timezone: string, userId: number): PostValues {
  return {
    title: post?.title ?? '',
    content: post?.content ?? '',
    excerpt: post?.excerpt ?? '',
    slug: post?.slug ?? '',
    status: post?.status ?? 'draft',
    date: post?.isDateSet === true ? localIso(post.date, timezone).slice(0, 16) : '',
    parent: String(post?.parentId ?? 0),
    order: String(post?.menuOrder ?? 0),
    image: String(post?.featuredMediaId ?? 0),
    password: post?.password ?? '',
    comments: post?.commentStatus ?? '',
    author: String(post?.authorId ?? userId),
  };
}

const maxChoices = 200;

async function parentChoices({ parts: { store } }: ContentPagesDependencies, type: PostType, post: Post | null) {
  const pages = await store.find({
    type: type.name,
    status: 'any',
    orderBy: 'title',
    order: 'asc',
    limit: maxChoices,
    exclude: post === null ? [] : [post.id],
  });
  return [
    { value: '0', label: 'None' },
    ...pages.map(({ id, title }) => ({ value: String(id), label: title || translateText('Untitled'), isData: true })),
  ];
}

async function imageChoices({ parts: { store } }: ContentPagesDependencies, post: Post | null) {
  const newest = await store.find({ type: 'attachment', status: 'inherit', mimeType: 'image', limit: maxChoices });
  const current =
    post !== null && post.featuredMediaId > 0 && !newest.some(({ id }) => id === post.featuredMediaId)
      ? await store.get(post.featuredMediaId)
      : null;
  return [
    { value: '0', label: 'None' },
    ...[...(current ? [current] : []), ...newest].map(({ id, title }) => ({
      value: String(id),
      label: title || translateText(`Image ${id}`),
      isData: true,
    })),
  ];
}

async function revisionRows({ parts: { store }, users }: ContentPagesDependencies, post: Post) {
  const revisions = await store.find({ type: 'revision', status: 'inherit', parents: [post.id], limit: 20 });
  return Promise.all(
    revisions.map(async (revision) => ({
      date: revision.date,
      author: await authorName({ users }, revision),
      title: revision.title || translateText('Untitled'),
      isAutosave: revision.slug === autosaveSlug(post.id),
      wordCount: revision.content.split(/\s+/).filter(Boolean).length,
      isCurrent: hasSameText(revision, post),
      fields: { id: String(post.id), revision: String(revision.id) },
    })),
  );
}
