import type { User } from './users.ts';

/** `hold` waits for a moderator. Only approved comments are public. */
export type CommentState = 'approved' | 'hold' | 'spam' | 'trash';

export interface Comment {
  readonly id: number;
  readonly postId: number;
  /** The comment that this one replies to; 0: none. */
  readonly parentId: number;
  /** 0: a guest. */
  readonly userId: number;
  readonly authorName: string;
  /** Personal data, as `authorIp` and `authorAgent`: only for moderators. */
  readonly authorEmail: string;
  readonly authorUrl: string;
  readonly authorIp: string;
  readonly authorAgent: string;
  /** Milliseconds since the epoch. */
  readonly date: number;
  /** Sanitized HTML. */
  readonly content: string;
  readonly status: CommentState;
  /** Status before it became spam or went to the trash. */
  readonly statusBefore: CommentState | null;
}

export type CommentData = Omit<Comment, 'id'>;

export interface CommentQuery {
  /** Default: all but spam and trash. */
  readonly status?: CommentState;
  readonly search?: string;
  readonly posts?: readonly number[];
  readonly parents?: readonly number[];
  readonly parentsExclude?: readonly number[];
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  /** User ids. */
  readonly authors?: readonly number[];
  readonly authorsExclude?: readonly number[];
  readonly authorEmail?: string;
  /** Milliseconds since the epoch, exclusive. */
  readonly before?: number;
  readonly after?: number;
  /** Excludes comments that this reader may not read. Default: none are excluded. */
  readonly visibleTo?: CommentReader;
  /** Default `date`. */
  readonly orderBy?: 'date' | 'id' | 'post' | 'parent' | 'include';
  /** Default `desc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 10. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface CommentReader {
  readonly user: User;
  /** The post whose password the reader knows. */
  readonly unlockedPost?: number;
}

/** A comment to create, by a user or a guest. */
export interface NewComment extends Partial<
  Pick<
    Comment,
    'parentId' | 'authorName' | 'authorEmail' | 'authorUrl' | 'authorIp' | 'authorAgent' | 'date' | 'status'
  >
> {
  readonly postId: number;
  /** HTML, which is sanitized. */
  readonly content: string;
}

export type CommentChanges = Partial<Omit<CommentData, 'statusBefore'>>;

/** Comments of posts. Capabilities are not checked here, nor whether a post takes comments: call `isOpen` first. */
export interface CommentsApi {
  get(id: number): Promise<Comment | null>;
  find(query?: CommentQuery): Promise<Comment[]>;
  /** Counts without limit and offset. */
  count(query?: CommentQuery): Promise<number>;
  /** Whether readers may comment on the post. False for a post that does not exist. */
  isOpen(postId: number): Promise<boolean>;
  /**
   * Without a `status` it is held for moderation as the settings say.
   *
   * @param author default: a guest. Of a user, name and addresses are those of the profile unless they are given.
   * @throws RestError 404 `rest_post_invalid_id`, 400 `rest_comment_content_invalid`, `rest_comment_invalid_parent`, 409
   *   `comment_duplicate`.
   */
  create(comment: NewComment, author?: User): Promise<Comment>;
  /** @throws RestError 404 `rest_comment_invalid_id`, 400 as `create`. */
  update(id: number, changes: CommentChanges): Promise<Comment>;
  /**
   * Moves the comment to the trash. With `force`, or from the trash, deletes it; replies move to its parent. Null if it does not
   * exist.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<Comment | null>;
}
