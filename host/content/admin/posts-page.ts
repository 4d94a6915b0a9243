import {
  parseId,
  backToList,
  clampPage,
  formatCount,
  formatNumber,
  listQuery,
  listView,
  translateText,
  restError,
} from '#plugin-api';
import { notSelected, readIds, readList } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView, Post, PostType, User } from '#plugin-api';
import type { ContentPagesDependencies } from './content-pages.ts';
import { readQuery, readText } from './form.ts';
import { listPath } from './form.ts';

/** The list of one type with status filter, search, sorting and actions, also on several posts. */
export function createPostsPage(given: ContentPagesDependencies, type: PostType): AdminPageBody {
  const on = (verb: Verb) => (request: AdminRequest) =>
    applyTo(given, type, { request, verb, ids: [parseId(readText(request, 'id'))] });
  return {
    render: (request) => renderList(given, type, request),
    actions: {
      trash: on('trash'),
      restore: on('restore'),
      delete: on('delete'),
      bulk: (request) => {
        const verb = verbs.find((name) => name === readText(request, 'do'));
        if (verb === undefined) throw notSelected();
        return applyTo(given, type, { request, verb, ids: readIds(request) });
      },
    },
  };
}

const verbs = ['trash', 'restore', 'undo', 'delete'] as const;
type Verb = (typeof verbs)[number];

const sentences: Readonly<Record<Verb, string>> = {
  trash: 'moved to the trash.',
  restore: 'restored as a draft.',
  undo: 'restored.',
  delete: 'deleted.',
};

const trashOptions = [
  { value: 'restore', label: 'Restore' },
  {
    value: 'delete',
    label: 'Delete permanently',
    confirm: 'Delete the selected entries permanently? You cannot undo this.',
  },
];

async function renderList(given: ContentPagesDependencies, type: PostType, request: AdminRequest): Promise<AdminView> {
  const { parts } = given;
  const path = listPath(type);
  const [status, search] = [readQuery(request, 'status'), readQuery(request, 's')];
  const read = readList(request, {
    sortable: type.hierarchical ? ['title', 'date', 'author'] : ['date', 'title', 'author'],
    order: type.hierarchical ? 'asc' : 'desc',
    filters: { status, s: search },
  });
  const query = {
    type: type.name,
    status: status === '' ? 'any' : status,
    visibleTo: request.user,
    ...(search !== '' && { search }),
  };
  const { tabs, total } = await statusTabs(given, { type, user: request.user, current: status, search });
  const list = clampPage(read, total);
  const page = { limit: list.perPage, offset: (list.page - 1) * list.perPage };
  const order = { orderBy: list.sort as 'date' | 'title' | 'author', order: list.order };
  const posts = await parts.store.find({ ...query, ...order, ...page }, total);
  const isTrash = status === 'trash';
  const rows = await toRows(given, { posts, type, user: request.user });
  return {
    template: 'admin/content/posts',
    data: {
      label: type.label,
      singular: type.singularLabel.toLowerCase(),
      searchLabel: `Search ${type.label.toLowerCase()}`,
      listUrl: path,
      newUrl: `${path}/new`,
      search,
      status,
      isTrash,
      isFiltered: search !== '' || status !== '',
      searchFields: { status },
      tabs,
      hasPictures: rows.some((row) => row['picture'] !== undefined),
      posts: rows.map((row) => ({ ...row, fields: { id: String(row['id']), back: listQuery(list) } })),
      mayDeleteAny: rows.some((row) => row['mayDelete'] === true),
      bulkFields: { back: listQuery(list) },
      bulkOptions: isTrash ? trashOptions : [{ value: 'trash', label: 'Move to trash' }],
      list: listView(list, {
        total,
        text: formatCount(total, 'entry', 'entries'),
        chips: {
          status: given.parts.statuses.get(status)?.label ?? status,
          s: `Search: ${search}`,
        },
        columns: [
          { label: 'Title', key: 'title' },
          { label: 'Status' },
          { label: 'Author', key: 'author' },
          { label: 'Date', key: 'date' },
        ],
      }),
    },
  };
}

/** Paths of the featured images by the id of the image. Private ones are left out. */
async function findPictures(
  { parts: { store, media } }: ContentPagesDependencies,
  posts: readonly Post[],
): Promise<ReadonlyMap<number, string>> {
  const include = [...new Set(posts.map(({ featuredMediaId }) => featuredMediaId))].filter((id) => id > 0);
  if (include.length === 0) return new Map();
  const found = await store.find({ type: 'attachment', status: 'any', include, limit: include.length });
  const images = (await media.describe(found)).filter((file) => !file.isPrivate);
  return new Map(images.map(({ id, url }) => [id, new URL(url).pathname]));
}

interface Change {
  readonly request: AdminRequest;
  readonly verb: Verb;
  readonly ids: readonly number[];
}

async function applyTo(
  given: ContentPagesDependencies,
  type: PostType,
  { request, verb, ids }: Change,
): Promise<AdminActionResult> {
  const posts: Post[] = [];
  for (const id of ids) posts.push(await findPost(given.parts, type, id));
  if (!posts.every((post) => request.user.can('delete_post', post)))
    throw restError(
      403,
      'rest_cannot_delete',
      `You are not allowed to delete this ${type.singularLabel.toLowerCase()}.`,
    );
  for (const post of posts) await applyVerb(given, { verb, post, user: request.user, type });
  const [first] = posts;
  const what =
    posts.length === 1
      ? `“${first?.title || translateText('Untitled')}”`
      : formatCount(posts.length, 'entry', 'entries');
  const { query, redirect } = backToList(request, listPath(type), ['status', 's']);
  const undo = { action: 'bulk', fields: { do: 'undo', ids: ids.join(','), back: query } };
  const notice = { kind: 'success', text: `${what} ${sentences[verb]}`, ...(verb === 'trash' && { undo }) } as const;
  return { notice, redirect };
}

async function applyVerb(
  { parts }: ContentPagesDependencies,
  { verb, post, user, type }: { verb: Verb; post: Post; user: User; type: PostType },
): Promise<void> {
  if (verb === 'trash') await parts.removal.delete(post.id);
  else if (verb === 'delete') await parts.removal.delete(post.id, { force: true });
  else {
    const { trashedFrom } = post;
    await parts.removal.untrash(post.id);
    // As it was before, unless that publishes without permission.
    if (verb === 'undo' && trashedFrom !== null && trashedFrom !== 'draft')
      if (user.can(type.capabilities.publish_posts) || trashedFrom === 'pending')
        await parts.writer.update(post.id, { status: trashedFrom });
  }
}

/** @throws RestError 404. */
export async function findPost(
  { store }: ContentPagesDependencies['parts'],
  type: PostType,
  id: number,
): Promise<Post> {
  const post = await store.get(id);
  if (post === null || post.type !== type.name) {
    throw restError(
      404,
      'rest_post_invalid_id',
      `This ${type.singularLabel.toLowerCase()} does not exist. It may have been deleted.`,
    );
  }
  return post;
}

async function statusTabs(
  { parts: { store, statuses } }: ContentPagesDependencies,
  { type, user, current, search }: { type: PostType; user: User; current: string; search: string },
) {
  const counts = await store.countByStatus({
    ...{ type: type.name, visibleTo: user },
    ...(search !== '' && { search }),
  });
  const counted = statuses.all().map((status) => ({ ...status, count: counts.get(status.name) ?? 0 }));
  const searchQuery = search === '' ? {} : { s: search };
  const shownStatuses = counted.filter(
    ({ internal, name, count }) => (!internal || name === 'trash') && (count > 0 || name === current),
  );
  const all = shownStatuses.filter(({ name }) => name !== 'trash').reduce((sum, { count }) => sum + count, 0);
  const tabs = [
    {
      label: `All (${formatNumber(all)})`,
      href: `?${new URLSearchParams(searchQuery).toString()}`,
      current: current === '',
    },
    ...shownStatuses.map(({ name, label, count }) => ({
      label: `${translateText(label)} (${formatNumber(count)})`,
      href: `?${new URLSearchParams({ status: name, ...searchQuery }).toString()}`,
      current: name === current,
    })),
  ];
  // Of what is listed: `any` leaves out these two alone, so internal statuses of plugins count.
  const listed = counted.filter(({ name }) =>
    ['', 'any'].includes(current) ? name !== 'trash' && name !== 'auto-draft' : name === current,
  );
  return { tabs, total: listed.reduce((sum, { count }) => sum + count, 0) };
}

const badgeKinds: Readonly<Record<string, string>> = {
  publish: 'success',
  future: 'info',
  private: 'warning',
  pending: 'warning',
};

async function toRows(
  given: ContentPagesDependencies,
  { posts, ...view }: { posts: readonly Post[]; type: PostType; user: User },
): Promise<Record<string, unknown>[]> {
  const pictures = await findPictures(given, posts);
  return Promise.all(posts.map((post) => toRow(given, { ...view, post, pictures })));
}

async function toRow(
  { parts, users }: ContentPagesDependencies,
  { post, type, user, pictures }: { post: Post; type: PostType; user: User; pictures: ReadonlyMap<number, string> },
): Promise<Record<string, unknown>> {
  const isTrash = post.status === 'trash';
  return {
    id: post.id,
    title: post.title || translateText('Untitled'),
    picture: pictures.get(post.featuredMediaId),
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
  };
}
