import type { Comment, CommentData, CommentQuery, CommentState } from '#plugin-api';
import { foldText, htmlToText } from '../html/text.ts';

/** A user, and those who commented with one of the email addresses. */
export interface PersonOfComments {
  readonly userId: number | null;
  readonly emails: readonly string[];
}

/** A row of the table `comments`. PostgreSQL may return big integers as text. */
export interface CommentRow {
  readonly id: number;
  readonly post_id: number;
  readonly parent_id: number;
  readonly user_id: number;
  readonly author_name: string;
  readonly author_email: string;
  readonly author_url: string;
  readonly author_ip: string;
  readonly author_agent: string;
  readonly date: number | string;
  readonly content: string;
  readonly status: string;
  readonly status_before: string | null;
  readonly search_text: string;
}

export function toComment(row: CommentRow): Comment {
  return {
    id: Number(row.id),
    postId: Number(row.post_id),
    parentId: Number(row.parent_id),
    userId: Number(row.user_id),
    authorName: row.author_name,
    authorEmail: row.author_email,
    authorUrl: row.author_url,
    authorIp: row.author_ip,
    authorAgent: row.author_agent,
    date: Number(row.date),
    content: row.content,
    status: row.status as CommentState,
    statusBefore: row.status_before as CommentState | null,
  };
}

export function toCommentRow(comment: CommentData): Omit<CommentRow, 'id'> {
  return {
    post_id: comment.postId,
    parent_id: comment.parentId,
    user_id: comment.userId,
    author_name: comment.authorName,
    author_email: comment.authorEmail,
    author_url: comment.authorUrl,
    author_ip: comment.authorIp,
    author_agent: comment.authorAgent,
    date: comment.date,
    content: comment.content,
    status: comment.status,
    status_before: comment.statusBefore,
    // Without the email address, which a visitor's search must not reveal.
    search_text: foldText([comment.authorName, htmlToText(comment.content)].join('\n')),
  };
}

/** Every state, in the order of the tabs of the admin page. */
export const commentStates = ['hold', 'approved', 'spam', 'trash'] as const;

export function wantedStates({ status }: CommentQuery): readonly CommentState[] {
  return status === undefined ? ['approved', 'hold'] : [status];
}

/** Whether few comments match. SQLite must not choose the index of the status for them. */
export function isNarrow({ search = '', posts, parents, include, authors, authorEmail }: CommentQuery): boolean {
  return search !== '' || [posts, parents, include, authors, authorEmail].some((filter) => filter !== undefined);
}

/** Whether every comment matches that the reader may read. */
export function isUnfiltered(query: CommentQuery): boolean {
  const { visibleTo: _, status: _2, limit: _3, offset: _4, orderBy: _5, order: _6, ...filters } = query;
  return Object.values(filters).every((filter) => filter === undefined || filter === '');
}
