import type { CommentsApi } from './comments.ts';
import type { JsonSchema } from './schema.ts';
import type { RestField, SearchHandler, Taxonomy, TaxonomyDefinition, TermFilter, TermsApi } from './taxonomies.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

/** Features of a post type. */
export type PostSupport =
  | 'title'
  | 'editor'
  | 'excerpt'
  | 'author'
  | 'thumbnail'
  | 'revisions'
  | 'page-attributes'
  | 'custom-fields'
  | 'comments';

export interface PostTypeDefinition {
  /** Plural, for menus: `Books`. */
  readonly label: string;
  /** Singular: `Book`. */
  readonly singularLabel: string;
  readonly description?: string;
  /** Published posts have a URL on the public site, `/{rewriteSlug}/{slug}/`. Default false. */
  readonly public?: boolean;
  /** Posts may have a parent; slugs are then unique per parent. Default false. */
  readonly hierarchical?: boolean;
  /** Default title and editor. */
  readonly supports?: readonly PostSupport[];
  /**
   * `book` gives the capabilities `edit_books`, `publish_books`, ...; use `['story', 'stories']` for irregular plurals.
   * Default `post`.
   */
  readonly capabilityType?: string | readonly [singular: string, plural: string];
  /** Default the type's name. */
  readonly rewriteSlug?: string;
  /** Routes below `/wp/v2/{restBase}`. Default false. */
  readonly showInRest?: boolean;
  /** Default the type's name. */
  readonly restBase?: string;
  /** Admin pages to list and edit posts. Default: the value of `public`. */
  readonly showInAdmin?: boolean;
}

/** A registered type with all defaults. */
export interface PostType extends Required<Omit<PostTypeDefinition, 'capabilityType'>> {
  readonly name: string;
  readonly isBuiltIn: boolean;
  /** Capability for each operation: `capabilities.edit_posts` is `edit_pages` for pages. */
  readonly capabilities: PostTypeCapabilities;
}

export type PostTypeCapabilities = Readonly<
  Record<
    | 'edit_post'
    | 'read_post'
    | 'delete_post'
    | 'edit_posts'
    | 'edit_others_posts'
    | 'delete_posts'
    | 'publish_posts'
    | 'read_private_posts'
    | 'delete_private_posts'
    | 'delete_published_posts'
    | 'delete_others_posts'
    | 'edit_private_posts'
    | 'edit_published_posts'
    | 'create_posts',
    string
  >
>;

export interface PostStatusDefinition {
  readonly label: string;
  /** Anyone may read. */
  readonly public?: boolean;
  /** Readers need `read_private_posts`, or be the author. */
  readonly private?: boolean;
  /** Visible only to users who may edit it. */
  readonly protected?: boolean;
  /** Used only by the host. */
  readonly internal?: boolean;
}

export interface PostStatus extends Required<PostStatusDefinition> {
  readonly name: string;
}

/** Whether a post takes comments. */
export type CommentStatus = 'open' | 'closed';

export interface Post {
  readonly id: number;
  readonly type: string;
  /** `draft`, `pending`, `private`, `publish`, `future`, `trash`, `auto-draft`, `inherit`, or one a plugin registered. */
  readonly status: string;
  /** Plain text. */
  readonly title: string;
  /** HTML with shortcodes, unrendered. */
  readonly content: string;
  /** HTML; if empty, an excerpt is generated from the content. */
  readonly excerpt: string;
  /** Part of the URL; empty for most drafts. */
  readonly slug: string;
  readonly authorId: number;
  /** 0: none. */
  readonly parentId: number;
  readonly menuOrder: number;
  /** Milliseconds since the epoch. */
  readonly date: number;
  /** False: a draft that gets its date when it is published. */
  readonly isDateSet: boolean;
  readonly modified: number;
  /** For attachments; otherwise empty. */
  readonly mimeType: string;
  /** 0: none. */
  readonly featuredMediaId: number;
  /** Status before it went to the trash. */
  readonly trashedFrom: string | null;
  /**
   * Visitors enter it to read content and excerpt. An empty text means none. Show the text of a post with a password only to users who may
   * edit it; `render` omits it.
   */
  readonly password: string;
  /** `open`: readers may comment on the published post. */
  readonly commentStatus: CommentStatus;
}

/** Fields of a post to set. Omitted fields get their default on creation and stay unchanged on update. */
export interface PostInput {
  /** A published post with a future date becomes `future`. Default `draft`. */
  readonly status?: string;
  readonly title?: string;
  readonly content?: string;
  readonly excerpt?: string;
  /** Made unique. Default: generated from the title, once the post is no longer a draft. */
  readonly slug?: string;
  readonly authorId?: number;
  readonly parentId?: number;
  readonly menuOrder?: number;
  /** Milliseconds since the epoch; null: set on publishing. */
  readonly date?: number | null;
  readonly featuredMediaId?: number;
  /** Up to 255 characters; empty removes it. Private posts, media and revisions have none. */
  readonly password?: string;
  /** Default: the setting `default_comment_status` for types that support comments, otherwise `closed`. */
  readonly commentStatus?: CommentStatus;
  /** Set like `meta.update`; null deletes. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /**
   * Ids of terms by taxonomy, which replace those the post has. Unknown ids are ignored. A post of type `post` without
   * categories gets the default one unless `category` is given.
   */
  readonly terms?: Readonly<Record<string, readonly number[]>>;
}

export interface NewPost extends PostInput {
  /** Default `post`. */
  readonly type?: string;
}

export interface PostWrite {
  /**
   * The writing user: without `unfiltered_html` the HTML is sanitized, and the user is the default author. Omit it only for
   * trusted HTML. Capabilities are not checked here; call `content.can` first.
   */
  readonly as?: User;
}

export interface PostQuery {
  /** Default `post`; `any`: all but revisions. */
  readonly type?: string | readonly string[];
  /** Default `publish`; `any`: all but trash and auto-drafts. */
  readonly status?: string | readonly string[];
  /**
   * Words that must all occur in title, excerpt or content; ignores case and accents. Finds posts with a password only for
   * their author and editors (`visibleTo`).
   */
  readonly search?: string;
  readonly slugs?: readonly string[];
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  readonly authors?: readonly number[];
  readonly authorsExclude?: readonly number[];
  readonly parents?: readonly number[];
  readonly parentsExclude?: readonly number[];
  /** Milliseconds since the epoch, exclusive. */
  readonly before?: number;
  readonly after?: number;
  readonly modifiedBefore?: number;
  readonly modifiedAfter?: number;
  /** `image`, or `image/png`. */
  readonly mimeType?: string;
  readonly menuOrder?: number;
  /** Only posts with a password, or only those without. */
  readonly hasPassword?: boolean;
  /** Terms that the posts must have, or must not have. */
  readonly terms?: readonly TermFilter[];
  /** Whether all filters of `terms` must match, or one. Default `AND`; filters with `NOT IN` always apply. */
  readonly termsRelation?: 'AND' | 'OR';
  /** Meta values that the posts must have, or must not have. All must match. */
  readonly meta?: readonly MetaFilter[];
  /** Excludes posts this user may not read. Default: no posts are excluded. */
  readonly visibleTo?: User;
  /** Default `date`. `relevance` of the search: titles before texts, the whole phrase before its words, then the newest. */
  readonly orderBy?:
    'date' | 'modified' | 'id' | 'title' | 'slug' | 'author' | 'parent' | 'menuOrder' | 'include' | 'relevance';
  /** Orders by the value of this meta key first, numbers as numbers. Posts without it come last. */
  readonly orderByMeta?: string;
  /** Default `desc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 10. */
  readonly limit?: number;
  readonly offset?: number;
}

/** Posts with one of the values of a key, or without. A list of several values (`single: false`) matches by each of them. */
export interface MetaFilter {
  readonly key: string;
  /** Default: any value. */
  readonly values?: readonly (string | number | boolean)[];
  /**
   * Compares with a number, or a text, the values of that type. For a range, use two filters. `LIKE`: texts that contain the
   * value, ignoring case; `%` and `_` are literal. Default: none.
   */
  readonly compare?:
    | { readonly operator: '<' | '<=' | '>' | '>='; readonly value: number | string }
    | { readonly operator: 'LIKE'; readonly value: string };
  /** Default true. False: posts without them, those without the key included. */
  readonly has?: boolean;
}

export interface MetaDefinition {
  /** Schema for validation. */
  readonly schema: JsonSchema;
  /** One value (default), or a list of values of this schema. */
  readonly single?: boolean;
  /** Returned by `get` when nothing is stored. */
  readonly default?: unknown;
  readonly description?: string;
  /** A text field in the form of posts. For one value with a schema of type `string`. Default: none. */
  readonly editor?: {
    readonly label: string;
    readonly help?: string;
    /** More than 1: a text of several lines. Default 1. */
    readonly rows?: number;
  };
  /** Available in `meta` of REST requests and responses. Default false. */
  readonly showInRest?: boolean;
  /** Whether the user, who may edit the post, may set it. Default: true, but false for keys that start with `_`. */
  readonly authorize?: (user: User, post: Post) => boolean;
}

export interface MetaApi {
  /** The value, else the registered default, else null; the list of values for keys registered with `single: false`. */
  get(postId: number, key: string): Promise<unknown>;
  /** All stored keys, without registered defaults. */
  all(postId: number): Promise<Record<string, unknown[]>>;
  /**
   * Replaces the value (or the list, with `single: false`). Returns false if it was equal. Throws RestError 400 if a
   * registered schema refuses it.
   */
  update(postId: number, key: string, value: unknown): Promise<boolean>;
  /**
   * Adds to a number and returns the sum; what is not a number counts as 0. Nothing is lost, however many requests and nodes
   * call it at once, which take turns: frequent counters belong in a table. Throws as `update`.
   *
   * @param by default 1.
   */
  increment(postId: number, key: string, by?: number): Promise<number>;
  /** Returns whether it existed. */
  delete(postId: number, key: string): Promise<boolean>;
}

export interface PostsApi {
  create(post: NewPost, write?: PostWrite): Promise<Post>;
  get(id: number): Promise<Post | null>;
  /** Throws RestError 404 `rest_post_invalid_id`. */
  update(id: number, changes: PostInput, write?: PostWrite): Promise<Post>;
  /**
   * Moves the post to the trash. With `force`, or if it is in the trash, deletes it with revisions and meta. Attachments are
   * always deleted at once, with their file. Returns null if the post does not exist.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<Post | null>;
  /** Restores from the trash as a draft (attachments: `inherit`). */
  untrash(id: number): Promise<Post>;
  find(query?: PostQuery): Promise<Post[]>;
  /** Counts without limit and offset. */
  count(query?: PostQuery): Promise<number>;
}

export interface RevisionsApi {
  /** Newest first; posts of type `revision`. */
  list(postId: number): Promise<Post[]>;
  /** Restores title, content and excerpt of the revision. Returns the post. */
  restore(revisionId: number, write?: PostWrite): Promise<Post>;
}

export interface NewMedia {
  readonly bytes: Uint8Array;
  /** File name with extension; made unique and safe. */
  readonly name: string;
  readonly title?: string;
  readonly alt?: string;
  /** HTML. */
  readonly caption?: string;
  readonly description?: string;
  /** The post it is attached to. */
  readonly parentId?: number;
  readonly authorId?: number;
  /**
   * True: the status is `private`, the file gets a name that cannot be guessed, and only the author and users with
   * `read_private_posts` see entry and file. Default false: public.
   */
  readonly isPrivate?: boolean;
}

export interface Media {
  readonly id: number;
  /** Absolute URL. That of a private file works only for users who may read the entry. */
  readonly url: string;
  /** Path below the uploads folder: `2026/11/cat.png`. */
  readonly file: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels; null if it is not an image. */
  readonly width: number | null;
  readonly height: number | null;
  readonly title: string;
  readonly alt: string;
  /** Its status is `private`. */
  readonly isPrivate: boolean;
  readonly post: Post;
}

export interface MediaApi {
  /** Throws RestError 400 when size, extension or content is not allowed. */
  save(media: NewMedia, write?: PostWrite): Promise<Media>;
  get(id: number): Promise<Media | null>;
  /** URL of its file; `read` returns the file's content. Null if it does not exist. */
  url(id: number): Promise<string | null>;
  read(id: number): Promise<Uint8Array | null>;
  /**
   * Makes public media private, as if saved with `isPrivate`: the file moves, and its old URL stops working. Can be repeated
   * after an interruption; call it on one node at a time. Null if it does not exist.
   */
  makePrivate(id: number): Promise<Media | null>;
  /** Deletes it with its file. Returns whether it existed. */
  delete(id: number): Promise<boolean>;
}

export type ShortcodeAttributes = Readonly<Record<string, string>>;

export interface ShortcodeContext {
  /** The rendered post, if any. */
  readonly post?: Post;
  /** The signed-in user who views the page. Content for one user is never cached. */
  readonly viewer?: User;
}

/**
 * Returns the HTML for `[tag a="1" b]content[/tag]`. Attributes without a name are named `0`, `1`, ...; content is empty for
 * a tag without content. The result is not escaped.
 */
/* eslint-disable max-params -- WordPress's arguments, in its order */
export type ShortcodeCallback = (
  attributes: ShortcodeAttributes,
  content: string,
  tag: string,
  context: ShortcodeContext,
) => string | Promise<string>;
/* eslint-enable max-params */

/**
 * Posts of all types, media and shortcodes, with WordPress's hooks (`transition_post_status`, `save_post`, `wp_insert_post_data`,
 * `the_content`, ...). Writes take part in the current `database.transaction`. Actions run after the write.
 */
export interface ContentApi {
  readonly posts: PostsApi;
  readonly meta: MetaApi;
  readonly revisions: RevisionsApi;
  readonly media: MediaApi;
  readonly terms: TermsApi;
  readonly comments: CommentsApi;
  /** @param name 1..20 lower-case letters, digits, `-` and `_`. */
  registerPostType(name: string, definition: PostTypeDefinition): Undo;
  registerPostStatus(name: string, definition: PostStatusDefinition): Undo;
  /** @param type a post type, or empty for all types. */
  registerMeta(type: string, key: string, definition: MetaDefinition): Undo;
  /**
   * Terms are stored independently of the registration: they are there again when the taxonomy is.
   *
   * @param name 1..32 lower-case letters, digits, `-` and `_`.
   */
  registerTaxonomy(name: string, definition: TaxonomyDefinition): Undo;
  /** @param types post types, or taxonomies. */
  registerRestField(types: string | readonly string[], name: string, field: RestField): Undo;
  /** Adds a `type` to `/wp/v2/search`. */
  registerSearchHandler(type: string, handler: SearchHandler): Undo;
  taxonomy(name: string): Taxonomy | undefined;
  taxonomies(): readonly Taxonomy[];
  postType(name: string): PostType | undefined;
  postTypes(): readonly PostType[];
  postStatuses(): readonly PostStatus[];
  /** The last callback of a tag applies; undoing it restores the previous one. */
  addShortcode(tag: string, callback: ShortcodeCallback): Undo;
  /** Renders the shortcodes of the text in order. If a callback throws, the error is logged and the shortcode renders empty. */
  doShortcode(text: string, context?: ShortcodeContext): Promise<string>;
  /** Removes registered shortcodes with their content. */
  stripShortcodes(text: string): string;
  hasShortcode(text: string, tag: string): boolean;
  shortcodeExists(tag: string): boolean;
  /** `defaults`, overridden by attributes of the same name; other attributes are dropped. */
  shortcodeAttributes<Defaults extends Readonly<Record<string, unknown>>>(
    defaults: Defaults,
    attributes: ShortcodeAttributes,
  ): { [Name in keyof Defaults]: Defaults[Name] | string };
  /**
   * Whether the user may `edit_post`, `delete_post`, `read_post` or `publish_post` this post. `user.can('edit_post', post)` is
   * the synchronous form; with an id it returns false for posts that this process has not read recently.
   */
  can(user: User, capability: string, postId: number): Promise<boolean>;
  /**
   * HTML of others with what authors may use, as `posts.create` stores it with `as`; for `comment`, as of comments. Throws
   * RestError 400 for more than 100,000 tags (D46).
   */
  sanitize(html: string, as?: 'post' | 'comment'): Promise<string>;
  /** Absolute URL on the public site; for a draft, the URL of its preview. */
  permalink(post: Post): Promise<string>;
  /**
   * HTML of title, content and excerpt, through the filters `the_title`, `the_content` and `the_excerpt`. Content and excerpt of
   * a post with a password are empty.
   */
  render(post: Post): Promise<{ readonly title: string; readonly content: string; readonly excerpt: string }>;
}
