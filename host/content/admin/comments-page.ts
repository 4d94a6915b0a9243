import {
  parseId,
  backToList,
  clampPage,
  formatCount,
  formatNumber,
  listQuery,
  listView,
  notSelected,
  readIds,
  readList,
  readFormer,
  writeFormer,
  translateText,
  restError,
} from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView, Comment, CommentState } from '#plugin-api';
import { commentStates } from '../comments/comment-row.ts';
import { htmlToText } from '../html/text.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { readQuery, readText } from './form.ts';

const labels: Readonly<Record<CommentState, string>> = {
  hold: 'Pending',
  approved: 'Approved',
  spam: 'Spam',
  trash: 'Trash',
};
const kinds: Readonly<Record<CommentState, string>> = {
  hold: 'warning',
  approved: 'success',
  spam: 'danger',
  trash: '',
};

const verbs = ['approve', 'hold', 'spam', 'trash', 'restore', 'delete', 'undo'] as const;
type Verb = (typeof verbs)[number];

const stateOf: Readonly<Partial<Record<Verb, CommentState>>> = {
  approve: 'approved',
  hold: 'hold',
  spam: 'spam',
  trash: 'trash',
};
const sentences: Readonly<Record<Verb, string>> = {
  approve: 'approved.',
  hold: 'moved to Pending.',
  spam: 'marked as spam.',
  trash: 'moved to the trash.',
  restore: 'restored.',
  delete: 'deleted.',
  undo: 'as before.',
};

/** The comments of all posts, by state, for moderators, with actions on one and on several. */
export function createCommentsPage(given: ContentPagesDependencies): AdminPageBody {
  const on = (verb: Verb) => (request: AdminRequest) =>
    applyTo(given, { request, verb, ids: [parseId(readText(request, 'id'))] });
  return {
    render: (request) => renderList(given, request),
    actions: {
      approve: on('approve'),
      hold: on('hold'),
      spam: on('spam'),
      trash: on('trash'),
      restore: on('restore'),
      delete: on('delete'),
      bulk: (request) => {
        const verb = verbs.find((name) => name === readText(request, 'do'));
        if (verb === undefined) throw notSelected();
        return applyTo(given, { request, verb, ids: readIds(request) });
      },
    },
  };
}

interface Change {
  readonly request: AdminRequest;
  readonly verb: Verb;
  readonly ids: readonly number[];
}

async function applyTo(given: ContentPagesDependencies, { request, verb, ids }: Change): Promise<AdminActionResult> {
  const { comments } = given.parts;
  const found: Comment[] = [];
  for (const id of ids) found.push(await findComment(given, request, id));
  const before = readFormer(request);
  for (const comment of found) {
    const status = verb === 'undo' ? commentStates.find((state) => state === before.get(comment.id)) : stateOf[verb];
    if (verb === 'delete') await comments.remove(comment);
    else if (verb === 'restore') await comments.restore(comment);
    else if (status !== undefined) await comments.update(comment, { status });
  }
  const { query, redirect } = backToList(request, 'comments', ['status', 's']);
  const was = writeFormer(found, ({ status }) => status);
  const undo = { action: 'bulk', fields: { do: 'undo', ids: ids.join(','), was, back: query } };
  const what = found.length === 1 ? 'Comment' : formatCount(found.length, 'comment');
  return {
    notice: { kind: 'success', text: `${what} ${sentences[verb]}`, ...(verb in stateOf && { undo }) },
    redirect,
  };
}

async function findComment({ parts }: ContentPagesDependencies, request: AdminRequest, id: number): Promise<Comment> {
  const comment = await parts.comments.store.get(id);
  if (comment === null)
    throw restError(404, 'rest_comment_invalid_id', 'This comment does not exist. It may have been deleted.');
  if (await parts.comments.mayModerate(request.user, comment)) return comment;
  throw restError(403, 'rest_cannot_edit', 'You are not allowed to edit this comment.');
}

async function renderList(given: ContentPagesDependencies, request: AdminRequest): Promise<AdminView> {
  const { store } = given.parts.comments;
  const status = commentStates.find((state) => state === readQuery(request, 'status'));
  const search = readQuery(request, 's');
  const all = { ...(search !== '' && { search }), visibleTo: { user: request.user } };
  const wanted = readList(request, {
    sortable: ['date', 'post'],
    order: 'desc',
    filters: { status: status ?? '', s: search },
  });
  const counts = await store.countByState(all);
  const total = status === undefined ? counts.approved + counts.hold : counts[status];
  const list = clampPage(wanted, total);
  const page = { limit: list.perPage, offset: (list.page - 1) * list.perPage };
  const order = { orderBy: list.sort as 'date' | 'post', order: list.order };
  const found = await store.find({ ...all, ...(status && { status }), ...order, ...page }, total);
  return {
    template: 'admin/content/comments',
    data: {
      search,
      searchFields: { status: status ?? '' },
      isFiltered: search !== '' || status !== undefined,
      tabs: tabs(counts, { current: status, search }),
      comments: await Promise.all(found.map((comment) => toRow(given, comment, listQuery(list)))),
      bulkFields: { back: listQuery(list) },
      bulkOptions: bulkOptions(status),
      list: listView(list, {
        total,
        text: formatCount(total, 'comment'),
        chips: { s: `Search: ${search}`, status: status === undefined ? '' : labels[status] },
        columns: [
          { label: 'Comment' },
          { label: 'Author' },
          { label: 'Post', key: 'post' },
          { label: 'Status' },
          { label: 'Date', key: 'date' },
        ],
      }),
    },
  };
}

function bulkOptions(status: CommentState | undefined) {
  if (status === 'spam' || status === 'trash')
    return [
      { value: 'restore', label: 'Restore' },
      {
        value: 'delete',
        label: 'Delete permanently',
        confirm: 'Delete these comments permanently? You cannot undo this.',
      },
    ];
  return [
    { value: 'approve', label: 'Approve' },
    { value: 'hold', label: 'Hold' },
    { value: 'spam', label: 'Mark as spam' },
    { value: 'trash', label: 'Move to trash' },
  ];
}

interface TabsInit {
  readonly current: CommentState | undefined;
  readonly search: string;
}

function tabs(counts: Readonly<Record<CommentState, number>>, { current, search }: TabsInit) {
  const query = search === '' ? {} : { s: search };
  return [
    {
      label: `All (${formatNumber(counts.approved + counts.hold)})`,
      href: `?${new URLSearchParams(query).toString()}`,
      current: current === undefined,
    },
    ...commentStates.map((state) => ({
      label: `${translateText(labels[state])} (${formatNumber(counts[state])})`,
      href: `?${new URLSearchParams({ status: state, ...query }).toString()}`,
      current: state === current,
    })),
  ];
}

async function toRow({ parts }: ContentPagesDependencies, comment: Comment, back: string) {
  const post = await parts.store.get(comment.postId);
  const isGone = comment.status === 'spam' || comment.status === 'trash';
  return {
    id: comment.id,
    author: comment.authorName,
    email: comment.authorEmail,
    text: htmlToText(comment.content).slice(0, 500),
    date: comment.date,
    badge: { text: labels[comment.status], kind: kinds[comment.status] },
    post: post?.title || translateText('Untitled'),
    postUrl: post === null ? null : `${await parts.permalinks.url(post)}#comment-${comment.id}`,
    isGone,
    isHeld: comment.status === 'hold',
    fields: { id: String(comment.id), back },
  };
}
