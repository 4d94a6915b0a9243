import { RestError, formatNumber, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, Post, PostType, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';
import { parseId, paginate, readQuery, readText } from './form.ts';
import { listPath } from './form.ts';

const perPage = 20;

/** The list of one type with status filter, search and actions. */
export function createPostsPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const path = listPath(type);
  const { parts } = given;
  return {
    render: async (request) => {
      const status = readQuery(request, 'status');
      const search = readQuery(request, 's');
      const page = Math.max(1, parseId(readQuery(request, 'page')));
      const query = {
        type: type.name,
        status: status === '' ? 'any' : status,
        visibleTo: request.user,
        ...(search !== '' && { search }),
      };
      const total = await parts.store.count(query);
      const posts = await parts.store.find({
        ...query,
        orderBy: type.hierarchical ? 'title' : 'date',
        order: type.hierarchical ? 'asc' : 'desc',
        limit: perPage,
        offset: (page - 1) * perPage,
      });
      return {
        template: 'admin/content/posts',
        data: {
          label: type.label,
          singular: type.singularLabel.toLowerCase(),
          searchLabel: `Search ${type.label.toLowerCase()}`,
          listUrl: path,
          newUrl: `${path}/new`,
          search,
          total,
          status,
          isTrash: status === 'trash',
          isFiltered: search !== '' || status !== '',
          searchFields: { status },
          tabs: await statusTabs(given, { type, user: request.user, current: status }),
          posts: await Promise.all(posts.map((post) => toRow(given, { post, type, user: request.user }))),
          pagination: paginate({ total, page, perPage, query: { status, s: search } }),
        },
      };
    },
    actions: {
      trash: (request) =>
        applyToPost(given, {
          request,
          type,
          sentence: 'moved to the trash.',
          run: (post) => parts.removal.delete(post.id),
        }),
      restore: (request) =>
        applyToPost(given, {
          request,
          type,
          sentence: 'restored as a draft.',
          run: (post) => parts.removal.untrash(post.id),
        }),
      delete: (request) =>
        applyToPost(given, {
          request,
          type,
          sentence: 'deleted.',
          run: (post) => parts.removal.delete(post.id, { force: true }),
        }),
    },
  };
}

interface Change {
  readonly request: AdminRequest;
  readonly type: PostType;
  readonly sentence: string;
  readonly run: (post: Post) => Promise<unknown>;
}

async function applyToPost(
  { parts }: ContentPagesDependencies,
  { request, type, sentence, run }: Change,
): Promise<AdminActionResult> {
  const post = await findPost(parts, type, parseId(readText(request, 'id')));
  if (!request.user.can('delete_post', post))
    throw new RestError({
      code: 'rest_cannot_delete',
      message: `You are not allowed to delete this ${type.singularLabel.toLowerCase()}.`,
      status: 403,
    });
  await run(post);
  const status = readQuery(request, 'status') || (readText(request, 'back') ?? '');
  return withNotice('success', `“${post.title || 'Untitled'}” ${sentence}`, {
    redirect: listPath(type) + (status === '' ? '' : `?status=${encodeURIComponent(status)}`),
  });
}

/** @throws RestError 404. */
export async function findPost(
  { store }: ContentPagesDependencies['parts'],
  type: PostType,
  id: number,
): Promise<Post> {
  const post = await store.get(id);
  if (post === null || post.type !== type.name) {
    throw new RestError({
      code: 'rest_post_invalid_id',
      message: `This ${type.singularLabel.toLowerCase()} does not exist. It may have been deleted.`,
      status: 404,
    });
  }
  return post;
}

async function statusTabs(
  { parts: { store, statuses } }: ContentPagesDependencies,
  { type, user, current }: { type: PostType; user: User; current: string },
) {
  const shown = statuses.all().filter(({ internal, name }) => !internal || name === 'trash');
  const counts = await Promise.all(
    shown.map(({ name }) => store.count({ type: type.name, status: name, visibleTo: user })),
  );
  const shownStatuses = shown
    .map(({ name, label }, index) => ({ name, label, count: counts[index] ?? 0 }))
    .filter(({ name, count }) => count > 0 || name === current);
  const all = shownStatuses.filter(({ name }) => name !== 'trash').reduce((sum, { count }) => sum + count, 0);
  return [
    { label: `All (${formatNumber(all)})`, href: '?', current: current === '' },
    ...shownStatuses.map(({ name, label, count }) => ({
      label: `${label} (${formatNumber(count)})`,
      href: `?status=${encodeURIComponent(name)}`,
      current: name === current,
    })),
  ];
}

const badgeKinds: Readonly<Record<string, string>> = {
  publish: 'success',
  future: 'info',
  private: 'warning',
  pending: 'warning',
};

async function toRow(
  { parts, users }: ContentPagesDependencies,
  { post, type, user }: { post: Post; type: PostType; user: User },
): Promise<Record<string, unknown>> {
  const isTrash = post.status === 'trash';
  return {
    id: post.id,
    title: post.title || 'Untitled',
    depth: type.hierarchical && post.parentId > 0,
    badge: { text: parts.statuses.get(post.status)?.label ?? post.status, kind: badgeKinds[post.status] ?? '' },
    isProtected: post.password !== '',
    author: post.authorId > 0 ? ((await users.get(post.authorId))?.displayName ?? '') : '',
    date: post.isDateSet ? post.date : post.modified,
    dateLabel: post.status === 'publish' ? 'Published' : post.status === 'future' ? 'Scheduled for' : 'Last modified',
    editUrl: !isTrash && user.can('edit_post', post) ? `${listPath(type)}/edit?id=${post.id}` : null,
    viewUrl: !isTrash && type.public ? await parts.permalinks.url(post) : null,
    viewLabel: post.status === 'publish' ? 'View' : 'Preview',
    mayDelete: user.can('delete_post', post),
    isTrash,
    fields: { id: String(post.id) },
    trashFields: { id: String(post.id), back: 'trash' },
  };
}
