import { RestError, formatNumber, withNotice } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, User } from '#plugin-api';
import type { Comment, CommentState } from '../comments/comment-row.ts';
import { htmlToText } from '../html/text.ts';
import type { ContentPagesDependencies } from './content-pages.ts';
import { paginate, parseId, readQuery, readText } from './form.ts';

const perPage = 20;
const states = ['hold', 'approved', 'spam', 'trash'] as const;
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

/** The comments of all posts, by state, for moderators. */
export function createCommentsPage(given: ContentPagesDependencies): AdminPageBody {
  const { comments } = given.parts;
  const change =
    (sentence: string, run: (comment: Comment) => Promise<unknown>) =>
    async (request: AdminRequest): Promise<AdminActionResult> => {
      const comment = await findComment(given, request);
      await run(comment);
      return withNotice('success', sentence, { redirect: `comments?status=${readText(request, 'back') ?? ''}` });
    };
  return {
    render: (request) => renderList(given, request),
    actions: {
      approve: change('Comment approved.', (comment) => comments.update(comment, { status: 'approved' })),
      hold: change('Comment moved to Pending.', (comment) => comments.update(comment, { status: 'hold' })),
      spam: change('Comment marked as spam.', (comment) => comments.update(comment, { status: 'spam' })),
      trash: change('Comment moved to the trash.', (comment) => comments.update(comment, { status: 'trash' })),
      restore: change('Comment restored.', (comment) => comments.restore(comment)),
      delete: change('Comment deleted.', (comment) => comments.remove(comment)),
    },
  };
}

async function findComment({ parts }: ContentPagesDependencies, request: AdminRequest): Promise<Comment> {
  const comment = await parts.comments.store.get(parseId(readText(request, 'id')));
  if (comment === null)
    throw new RestError({
      code: 'rest_comment_invalid_id',
      message: 'This comment does not exist. It may have been deleted.',
      status: 404,
    });
  if (await parts.comments.mayModerate(request.user, comment)) return comment;
  throw new RestError({
    code: 'rest_cannot_edit',
    message: 'You are not allowed to edit this comment.',
    status: 403,
  });
}

async function renderList(given: ContentPagesDependencies, request: AdminRequest) {
  const { store } = given.parts.comments;
  const wanted = readQuery(request, 'status');
  const status = states.find((state) => state === wanted);
  const page = Math.max(1, parseId(readQuery(request, 'page')));
  const query = { ...(status && { status }), visibleTo: { user: request.user } };
  const total = await store.count(query);
  const found = await store.find({ ...query, limit: perPage, offset: (page - 1) * perPage });
  return {
    template: 'admin/content/comments',
    data: {
      total,
      tabs: await tabs(given, request.user, status),
      comments: await Promise.all(found.map((comment) => toRow(given, comment, status ?? ''))),
      pagination: paginate({ total, page, perPage, query: { status: status ?? '' } }),
    },
  };
}

async function tabs({ parts }: ContentPagesDependencies, user: User, current: CommentState | undefined) {
  const count = async (state?: CommentState): Promise<string> =>
    formatNumber(await parts.comments.store.count({ ...(state && { status: state }), visibleTo: { user } }));
  return [
    { label: `All (${await count()})`, href: '?', current: current === undefined },
    ...(await Promise.all(
      states.map(async (state) => ({
        label: `${labels[state]} (${await count(state)})`,
        href: `?status=${state}`,
        current: state === current,
      })),
    )),
  ];
}

async function toRow({ parts }: ContentPagesDependencies, comment: Comment, back: string) {
  const post = await parts.store.get(comment.postId);
  const isGone = comment.status === 'spam' || comment.status === 'trash';
  return {
    author: comment.authorName,
    email: comment.authorEmail,
    text: htmlToText(comment.content).slice(0, 500),
    date: comment.date,
    badge: { text: labels[comment.status], kind: kinds[comment.status] },
    post: post?.title || 'Untitled',
    postUrl: post === null ? null : `${await parts.permalinks.url(post)}#comment-${comment.id}`,
    isGone,
    isHeld: comment.status === 'hold',
    fields: { id: String(comment.id), back },
  };
}
