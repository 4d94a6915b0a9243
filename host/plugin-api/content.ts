import type { JsonSchema } from './schema.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

/** Parts of a post that its type offers. */
export type PostSupport =
  'title' | 'editor' | 'excerpt' | 'author' | 'thumbnail' | 'revisions' | 'page-attributes' | 'custom-fields';

export interface PostTypeDefinition {
  /** In the plural, for menus: `Books`. */
  readonly label: string;
  /** In the singular: `Book`. */
  readonly singularLabel: string;
  readonly description?: string;
  /** Published posts have an address on the public site, `/{rewriteSlug}/{slug}/`. Default false. */
  readonly public?: boolean;
  /** Posts may stand below others; slugs are then unique below one parent. Default false. */
  readonly hierarchical?: boolean;
  /** Default title and editor. */
  readonly supports?: readonly PostSupport[];
  /** `book` makes capabilities `edit_books`, `publish_books`, ...; `['story', 'stories']` for other plurals. Default `post`. */
  readonly capabilityType?: string | readonly [singular: string, plural: string];
  /** Default the type's name. */
  readonly rewriteSlug?: string;
  /** Routes below `/wp/v2/{restBase}`. Default false. */
  readonly showInRest?: boolean;
  /** Default the type's name. */
  readonly restBase?: string;
  /** Pages in the admin to list and edit. Default: as `public`. */
  readonly showInAdmin?: boolean;
}

/** A registered type with all that was left out filled in. */
export interface PostType extends Required<Omit<PostTypeDefinition, 'capabilityType'>> {
  readonly name: string;
  readonly isBuiltIn: boolean;
  /** Capability of each act: `capabilities.edit_posts` is `edit_pages` for pages. */
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
  /** Everybody may read. */
  readonly public?: boolean;
  /** Readers need `read_private_posts`, or have written it. */
  readonly private?: boolean;
  /** Only those who may edit it see it. */
  readonly protected?: boolean;
  /** Used by the host itself; not to be set by hand. */
  readonly internal?: boolean;
}

export interface PostStatus extends Required<PostStatusDefinition> {
  readonly name: string;
}

export interface Post {
  readonly id: number;
  readonly type: string;
  /** `draft`, `pending`, `private`, `publish`, `future`, `trash`, `auto-draft`, `inherit`, or one a plugin registered. */
  readonly status: string;
  /** Plain text. */
  readonly title: string;
  /** HTML with shortcodes, as it was written. */
  readonly content: string;
  /** HTML; empty: one is made of the content where it is shown. */
  readonly excerpt: string;
  /** Part of the address; empty for most drafts. */
  readonly slug: string;
  readonly authorId: number;
  /** 0: none. */
  readonly parentId: number;
  readonly menuOrder: number;
  /** Milliseconds since the epoch. */
  readonly date: number;
  /** False: a draft whose date becomes the moment it is published. */
  readonly isDateSet: boolean;
  readonly modified: number;
  /** Of attachments, else empty. */
  readonly mimeType: string;
  /** 0: none. */
  readonly featuredMediaId: number;
  /** Status before it went to the trash. */
  readonly trashedFrom: string | null;
}

/** What may be set of a post. Left out: the default at creation, unchanged at an update. */
export interface PostInput {
  /** A published post with a date to come becomes `future`. Default `draft`. */
  readonly status?: string;
  readonly title?: string;
  readonly content?: string;
  readonly excerpt?: string;
  /** Made unique. Default: from the title, once the post is no draft. */
  readonly slug?: string;
  readonly authorId?: number;
  readonly parentId?: number;
  readonly menuOrder?: number;
  /** Milliseconds since the epoch; null: floating until it is published. */
  readonly date?: number | null;
  readonly featuredMediaId?: number;
  /** Set as `meta.update` does; null removes. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface NewPost extends PostInput {
  /** Default `post`. */
  readonly type?: string;
}

export interface PostWrite {
  /**
   * Who writes: HTML of a user without `unfiltered_html` is sanitised, and new posts are theirs unless `authorId` says
   * otherwise. Left out: the caller vouches for the HTML. Rights are not checked here; ask `content.can` first.
   */
  readonly as?: User;
}

export interface PostQuery {
  /** Default `post`; `any`: all but revisions. */
  readonly type?: string | readonly string[];
  /** Default `publish`; `any`: all but trash and auto-drafts. */
  readonly status?: string | readonly string[];
  /** Words that must all occur in title, excerpt or text; case- and accent-insensitive. */
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
  /** Leaves out posts this user may not read. Default: none are left out. */
  readonly visibleTo?: User;
  /** Default `date`. */
  readonly orderBy?: 'date' | 'modified' | 'id' | 'title' | 'slug' | 'author' | 'parent' | 'menuOrder' | 'include';
  /** Default `desc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 10. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface MetaDefinition {
  /** Values are checked by it. */
  readonly schema: JsonSchema;
  /** One value (default), or a list of values of this schema. */
  readonly single?: boolean;
  /** What `get` answers when nothing is stored. */
  readonly default?: unknown;
  readonly description?: string;
  /** Shown and set in `meta` of the REST answers. Default false. */
  readonly showInRest?: boolean;
  /** Who may set it, besides who may edit the post. Default: everybody who may edit; nobody when the key begins with `_`. */
  readonly authorize?: (user: User, post: Post) => boolean;
}

export interface MetaApi {
  /** The value, else the registered default, else null; for keys registered with `single: false` the list of values. */
  get(postId: number, key: string): Promise<unknown>;
  /** Every stored key; registered defaults are not filled in. */
  all(postId: number): Promise<Record<string, unknown[]>>;
  /** Replaces the value (or the list, with `single: false`). Answers false when it was equal. Throws RestError 400 when a registered schema refuses it. */
  update(postId: number, key: string, value: unknown): Promise<boolean>;
  /** Answers whether there was one. */
  delete(postId: number, key: string): Promise<boolean>;
}

export interface PostsApi {
  create(post: NewPost, write?: PostWrite): Promise<Post>;
  get(id: number): Promise<Post | null>;
  /** Throws RestError 404 `rest_post_invalid_id`. */
  update(id: number, changes: PostInput, write?: PostWrite): Promise<Post>;
  /**
   * Moves to the trash; with `force`, or when it is there already, deletes with revisions and meta. Attachments know no
   * trash: they go at once, with their file. Null: there is no such post.
   */
  delete(id: number, options?: { readonly force?: boolean }): Promise<Post | null>;
  /** Out of the trash, as a draft (attachments: `inherit`). */
  untrash(id: number): Promise<Post>;
  find(query?: PostQuery): Promise<Post[]>;
  /** Counts without limit and offset. */
  count(query?: PostQuery): Promise<number>;
}

export interface RevisionsApi {
  /** Newest first; posts of type `revision`. */
  list(postId: number): Promise<Post[]>;
  /** Gives the post title, content and excerpt of the revision; answers the post. */
  restore(revisionId: number, write?: PostWrite): Promise<Post>;
}

export interface NewMedia {
  readonly bytes: Uint8Array;
  /** With its extension; becomes unique and harmless. */
  readonly name: string;
  readonly title?: string;
  readonly alt?: string;
  /** HTML. */
  readonly caption?: string;
  readonly description?: string;
  /** The post it belongs to. */
  readonly parentId?: number;
  readonly authorId?: number;
}

export interface Media {
  readonly id: number;
  /** Absolute address. */
  readonly url: string;
  /** Below the folder of uploads: `2026/11/cat.png`. */
  readonly file: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** Pixels; null for what is no image. */
  readonly width: number | null;
  readonly height: number | null;
  readonly title: string;
  readonly alt: string;
  readonly post: Post;
}

export interface MediaApi {
  /** Throws RestError 400 when size, extension or content is not allowed. */
  save(media: NewMedia, write?: PostWrite): Promise<Media>;
  get(id: number): Promise<Media | null>;
  /** Of its file, as what `read` answers is what is in it. Null: there is none. */
  url(id: number): Promise<string | null>;
  read(id: number): Promise<Uint8Array | null>;
  /** With its file. Answers whether there was one. */
  delete(id: number): Promise<boolean>;
}

export type ShortcodeAttributes = Readonly<Record<string, string>>;

export interface ShortcodeContext {
  /** The post being shown, when there is one. */
  readonly post?: Post;
  /** The signed-in user on whose page it is shown; what that user alone sees is kept by no cache. */
  readonly viewer?: User;
}

/**
 * Answers the HTML that stands for `[tag a="1" b]content[/tag]`. Attributes without a name count as `0`, `1`, ...; content is empty
 * for a tag that encloses nothing. What it answers is not escaped.
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
 * `the_content`, ...). Everything it writes takes part in a running `database.transaction`. Actions run after the write.
 */
export interface ContentApi {
  readonly posts: PostsApi;
  readonly meta: MetaApi;
  readonly revisions: RevisionsApi;
  readonly media: MediaApi;
  /** @param name 1..20 lower-case letters, digits, `-` and `_`. */
  registerPostType(name: string, definition: PostTypeDefinition): Undo;
  registerPostStatus(name: string, definition: PostStatusDefinition): Undo;
  /** @param type a post type, or empty for all. */
  registerMeta(type: string, key: string, definition: MetaDefinition): Undo;
  postType(name: string): PostType | undefined;
  postTypes(): readonly PostType[];
  postStatuses(): readonly PostStatus[];
  /** The last one added for a tag counts; undoing it brings back the one before. */
  addShortcode(tag: string, callback: ShortcodeCallback): Undo;
  /** Runs the shortcodes of the text, one after the other. A callback that throws is logged and leaves nothing in its place. */
  doShortcode(text: string, context?: ShortcodeContext): Promise<string>;
  /** Takes out registered shortcodes with what they enclose. */
  stripShortcodes(text: string): string;
  hasShortcode(text: string, tag: string): boolean;
  shortcodeExists(tag: string): boolean;
  /** `defaults`, each replaced by the attribute of its name; other attributes are left out. */
  shortcodeAttributes<Defaults extends Readonly<Record<string, unknown>>>(
    defaults: Defaults,
    attributes: ShortcodeAttributes,
  ): { [Name in keyof Defaults]: Defaults[Name] | string };
  /**
   * Whether the user may `edit_post`, `delete_post`, `read_post` or `publish_post` this one. `user.can('edit_post', post)` answers the
   * same at once; with an id instead of a post it refuses posts this process has not read lately.
   */
  can(user: User, capability: string, postId: number): Promise<boolean>;
  /** Absolute address on the public site; of a draft the address of its preview. */
  permalink(post: Post): Promise<string>;
  /** HTML of title, content and excerpt, through the filters `the_title`, `the_content` and `the_excerpt`. */
  render(post: Post): Promise<{ readonly title: string; readonly content: string; readonly excerpt: string }>;
}
