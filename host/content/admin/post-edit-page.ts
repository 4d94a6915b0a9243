import { RestError, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, Post, PostType, User } from '#plugin-api';
import { localIso } from '../dates.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { parseId, readQuery, readText } from './form.ts';
import { readPostForm, statusChoices, type PostValues } from './post-form.ts';
import { listPath } from './form.ts';
import { metaFields } from './meta-fields.ts';
import { resolveTerms, termFields } from './term-fields.ts';
import { findPost } from './posts-page.ts';

type Page = NonNullable<AdminActionResult['page']>;

interface Showing {
  readonly request: AdminRequest;
  readonly post: Post | null;
  /** The entered values when the form is shown again. */
  readonly typed?: PostValues;
  readonly errors?: Readonly<Record<string, string>>;
}

export function createNewPostPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const show = createRenderForm(given, type);
  return {
    render: (request) => show({ request, post: null }),
    actions: { save: (request) => save(given, type, { request, post: null, show }) },
  };
}

/** The form of one post, with its revisions. */
export function createEditPostPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const show = createRenderForm(given, type);
  const find = async (request: AdminRequest, id: number): Promise<Post> => {
    const post = await findPost(given.parts, type, id);
    if (!request.user.can('edit_post', post))
      throw new RestError({
        code: 'rest_cannot_edit',
        message: `You are not allowed to edit this ${type.singularLabel.toLowerCase()}.`,
        status: 403,
      });
    if (post.status === 'trash')
      throw new RestError({
        code: 'rest_cannot_edit',
        message: `This ${type.singularLabel.toLowerCase()} is in the trash. Restore it first.`,
        status: 400,
      });
    return post;
  };
  return {
    render: async (request) => show({ request, post: await find(request, parseId(readQuery(request, 'id'))) }),
    actions: {
      save: async (request) =>
        save(given, type, { request, post: await find(request, parseId(readText(request, 'id'))), show }),
      restore: async (request) => {
        const post = await find(request, parseId(readText(request, 'id')));
        const revision = await given.parts.store.get(parseId(readText(request, 'revision')));
        if (revision?.type !== 'revision' || revision.parentId !== post.id)
          throw new RestError({
            code: 'rest_post_invalid_id',
            message: 'This revision no longer exists.',
            status: 404,
          });
        const { title, content, excerpt } = revision;
        await given.parts.writer.update(post.id, { title, content, excerpt }, { as: request.user });
        await given.hooks.doActionAsync('wp_restore_post_revision', post.id, revision.id);
        return withNotice('success', 'Revision restored.', { redirect: `${listPath(type)}/edit?id=${post.id}` });
      },
    },
  };
}

async function save(
  given: ContentPagesDependencies,
  type: PostType,
  { request, post, show }: { request: AdminRequest; post: Post | null; show: (showing: Showing) => Promise<Page> },
): Promise<AdminActionResult> {
  const { values, input, errors } = await readPostForm(given, type, { request, post });
  const showErrors = async (messages: Readonly<Record<string, string>>): Promise<AdminActionResult> =>
    withNotice('error', 'Nothing was saved. Correct the marked fields.', {
      page: await show({ request, post, typed: values, errors: messages }),
      data: { errors: messages },
      status: 400,
    });
  if (Object.keys(errors).length > 0) return showErrors(errors);
  try {
    const { writer } = given.parts;
    const terms = await resolveTerms(given, values.terms ?? {}, request.user);
    const written = { ...input, ...(Object.keys(terms).length > 0 && { terms }) };
    const saved =
      post === null
        ? await writer.create({ ...written, type: type.name }, { as: request.user })
        : await writer.update(post.id, written, { as: request.user });
    return withNotice('success', savedNotice(type, saved, post), { redirect: `${listPath(type)}/edit?id=${saved.id}` });
  } catch (error) {
    if (error instanceof RestError && error.code === 'empty_content')
      return showErrors({ title: 'Enter a title or some content.' });
    if (error instanceof RestError && error.code === 'rest_post_invalid_id')
      return showErrors({
        parent: 'Choose another parent page. This one is a child of this page or no longer exists.',
      });
    throw error;
  }
}

function savedNotice({ singularLabel }: PostType, saved: Post, before: Post | null): string {
  if (saved.status === 'future') return `${singularLabel} scheduled.`;
  if (saved.status === 'publish' && before?.status !== 'publish') return `${singularLabel} published.`;
  return `${singularLabel} saved.`;
}

function createRenderForm(given: ContentPagesDependencies, type: PostType): (showing: Showing) => Promise<Page> {
  return async ({ request, post, typed, errors = {} }) => {
    const timezone = await given.site.timezone();
    return {
      template: 'admin/content/post-edit',
      ...(post !== null && post.title !== '' && { title: post.title }),
      data: {
        editor: await editorFiles(given, request),
        imageUrl: await imagePath(given, typed === undefined ? (post?.featuredMediaId ?? 0) : parseId(typed.image)),
        mayUpload: request.user.can('upload_files'),
        author: await authorName(given, post, request.user),
        id: post?.id ?? null,
        values: typed ?? formValues(post, timezone),
        errors,
        modified: post?.modified ?? '',
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
        metaFields: await metaFields(given, type, { user: request.user, post, typed: typed?.meta }),
        viewUrl: post !== null && type.public ? await given.parts.permalinks.url(post) : null,
        viewLabel: post?.status === 'publish' ? 'View' : 'Preview',
        mayDelete: post !== null && request.user.can('delete_post', post),
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

async function authorName({ users }: ContentPagesDependencies, post: Post | null, user: User): Promise<string> {
  const author = post === null ? user : post.authorId > 0 ? await users.get(post.authorId) : null;
  return author === null ? '' : author.displayName || author.login;
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

function formValues(post: Post | null, timezone: string): PostValues {
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
    ...pages.map(({ id, title }) => ({ value: String(id), label: title || 'Untitled' })),
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
      label: title || `Image ${id}`,
    })),
  ];
}

async function revisionRows({ parts: { store }, users }: ContentPagesDependencies, post: Post) {
  const revisions = await store.find({ type: 'revision', status: 'inherit', parents: [post.id], limit: 20 });
  return Promise.all(
    revisions.map(async (revision) => ({
      date: revision.date,
      author: revision.authorId > 0 ? ((await users.get(revision.authorId))?.displayName ?? '') : '',
      title: revision.title || 'Untitled',
      wordCount: revision.content.split(/\s+/).filter(Boolean).length,
      isCurrent:
        revision.title === post.title && revision.content === post.content && revision.excerpt === post.excerpt,
      fields: { id: String(post.id), revision: String(revision.id) },
    })),
  );
}
