import { RestError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, Post, PostType, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';
import { numberOf, paginate, queryOf, success, textOf } from './form.ts';
import { pathOf } from './form.ts';

const perPage = 20;

/** The list of one type, by status and words, with what may be done to each post. */
export function createPostsPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const path = pathOf(type);
  const { parts } = given;
  return {
    render: async (request) => {
      const status = queryOf(request, 'status');
      const search = queryOf(request, 's');
      const page = Math.max(1, numberOf(queryOf(request, 'page')));
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
          listUrl: path,
          newUrl: `${path}/new`,
          search,
          total,
          status,
          isTrash: status === 'trash',
          isFiltered: search !== '' || status !== '',
          searchFields: { status },
          tabs: await statusTabs(given, { type, user: request.user, current: status }),
          posts: await Promise.all(posts.map((post) => lineOf(given, { post, type, user: request.user }))),
          pagination: paginate({ total, page, perPage, query: { status, s: search } }),
        },
      };
    },
    actions: {
      trash: (request) =>
        change(given, { request, type, sentence: 'is in the trash.', run: (post) => parts.removal.delete(post.id) }),
      restore: (request) =>
        change(given, { request, type, sentence: 'is a draft again.', run: (post) => parts.removal.untrash(post.id) }),
      delete: (request) =>
        change(given, {
          request,
          type,
          sentence: 'was deleted.',
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

async function change(
  { parts }: ContentPagesDependencies,
  { request, type, sentence, run }: Change,
): Promise<AdminActionResult> {
  const post = await findPost(parts, type, numberOf(textOf(request, 'id')));
  if (!request.user.can('delete_post', post))
    throw new RestError({
      code: 'rest_cannot_delete',
      message: `Your account may not do this to this ${type.singularLabel.toLowerCase()}.`,
      status: 403,
    });
  await run(post);
  const status = queryOf(request, 'status') || (textOf(request, 'back') ?? '');
  return success(`“${post.title || 'Untitled'}” ${sentence}`, {
    redirect: pathOf(type) + (status === '' ? '' : `?status=${encodeURIComponent(status)}`),
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
      message: `There is no such ${type.singularLabel.toLowerCase()}; perhaps somebody else deleted it.`,
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
  const held = shown
    .map(({ name, label }, index) => ({ name, label, count: counts[index] ?? 0 }))
    .filter(({ name, count }) => count > 0 || name === current);
  const all = held.filter(({ name }) => name !== 'trash').reduce((sum, { count }) => sum + count, 0);
  return [
    { label: `All (${all})`, href: '?', current: current === '' },
    ...held.map(({ name, label, count }) => ({
      label: `${label} (${count})`,
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

async function lineOf(
  { parts, users }: ContentPagesDependencies,
  { post, type, user }: { post: Post; type: PostType; user: User },
): Promise<Record<string, unknown>> {
  const isTrash = post.status === 'trash';
  return {
    id: post.id,
    title: post.title || 'Untitled',
    depth: type.hierarchical && post.parentId > 0,
    badge: { text: parts.statuses.get(post.status)?.label ?? post.status, kind: badgeKinds[post.status] ?? '' },
    author: post.authorId > 0 ? ((await users.get(post.authorId))?.displayName ?? '') : '',
    date: post.isDateSet ? post.date : post.modified,
    dateLabel: post.status === 'publish' ? 'Published' : post.status === 'future' ? 'Scheduled for' : 'Changed',
    editUrl: !isTrash && user.can('edit_post', post) ? `${pathOf(type)}/edit?id=${post.id}` : null,
    viewUrl: !isTrash && type.public ? await parts.permalinks.of(post) : null,
    viewLabel: post.status === 'publish' ? 'View' : 'Preview',
    mayDelete: user.can('delete_post', post),
    isTrash,
    fields: { id: String(post.id) },
    trashFields: { id: String(post.id), back: 'trash' },
  };
}
