import type { RestRequest, RouteArgument } from './rest.ts';
import type { JsonSchema } from './schema.ts';
import type { User } from './users.ts';

/** The capability for each operation on the terms of a taxonomy. */
export type TaxonomyCapabilities = Readonly<
  Record<'manage_terms' | 'edit_terms' | 'delete_terms' | 'assign_terms', string>
>;

/** Texts for pages, with WordPress's names. Null: the taxonomy has no use for it. */
export type TaxonomyLabels = Readonly<Record<string, string | null>>;

export interface TaxonomyDefinition {
  /** Plural, for menus: `Genres`. */
  readonly label: string;
  /** Singular: `Genre`. */
  readonly singularLabel: string;
  readonly description?: string;
  /** Post types whose posts have these terms. */
  readonly types: readonly string[];
  /** Terms may have a parent. Default false. */
  readonly hierarchical?: boolean;
  /** Terms have an archive on the public site, `/{rewriteSlug}/{slug}/`. Default true. */
  readonly public?: boolean;
  /** Default the taxonomy's name. */
  readonly rewriteSlug?: string;
  /** Routes below `/wp/v2/{restBase}`, and the member `{restBase}` of posts. Default false. */
  readonly showInRest?: boolean;
  /** Default the taxonomy's name. */
  readonly restBase?: string;
  /** An admin page for terms, and fields in the form of posts. Default: the value of `public`. */
  readonly showInAdmin?: boolean;
  /**
   * Default `manage_categories`, and `edit_posts` to assign terms. Capabilities of your own work once roles have them: see
   * `host.users.addCapability`.
   */
  readonly capabilities?: Partial<TaxonomyCapabilities>;
  /** Replace some of the texts that label and singular label make. */
  readonly labels?: TaxonomyLabels;
}

/** A registered taxonomy with all defaults. */
export interface Taxonomy extends Required<Omit<TaxonomyDefinition, 'capabilities'>> {
  readonly name: string;
  readonly isBuiltIn: boolean;
  readonly capabilities: TaxonomyCapabilities;
}

export interface Term {
  readonly id: number;
  readonly taxonomy: string;
  /** Plain text. */
  readonly name: string;
  /** Part of the URL; unique within the taxonomy. */
  readonly slug: string;
  /** HTML. */
  readonly description: string;
  /** 0: none. */
  readonly parentId: number;
  /** Number of published posts with this term. */
  readonly count: number;
}

/** Fields of a term to set. Omitted fields get their default on creation and stay unchanged on update. */
export interface TermInput {
  /** Plain text, 1 to 200 characters. */
  readonly name?: string;
  /** Default: generated from the name. A taken one gets a number on creation. */
  readonly slug?: string;
  /** HTML, which is always sanitized. */
  readonly description?: string;
  readonly parentId?: number;
}

export interface TermQuery {
  /** Default: all taxonomies. */
  readonly taxonomy?: string | readonly string[];
  /** Part of name or slug; ignores case and accents. */
  readonly search?: string;
  readonly slugs?: readonly string[];
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  /** Only the direct children of this term; 0: terms without a parent. */
  readonly parentId?: number;
  /** Only the terms of this post. */
  readonly postId?: number;
  /** Leave out terms without published posts. */
  readonly hideEmpty?: boolean;
  /** Default `name`. Equal values are sorted by id. */
  readonly orderBy?: 'id' | 'name' | 'slug' | 'description' | 'count' | 'include';
  /** Default `asc`. */
  readonly order?: 'asc' | 'desc';
  /** Default 100. */
  readonly limit?: number;
  readonly offset?: number;
}

/** Terms that posts must have, or must not have. */
export interface TermFilter {
  readonly ids: readonly number[];
  /** `IN` (default): at least one of them; `AND`: all; `NOT IN`: none. */
  readonly operator?: 'IN' | 'AND' | 'NOT IN';
  /** Terms below count as well. Default false. */
  readonly includeChildren?: boolean;
}

/**
 * Terms of all taxonomies, with the actions of WordPress (`created_term`, `edited_term`, `delete_term`, `set_object_terms`).
 * Capabilities are not checked here: call `user.can(taxonomy.capabilities.edit_terms)` first.
 */
export interface TermsApi {
  /**
   * Throws RestError 400 `term_exists` (with `data.term_id`), `empty_term_name`, `rest_term_invalid`,
   * `rest_taxonomy_not_hierarchical`, 404 `rest_taxonomy_invalid`.
   */
  create(taxonomy: string, term: TermInput & { readonly name: string }): Promise<Term>;
  get(id: number): Promise<Term | null>;
  /** Throws RestError 404 `rest_term_invalid`, and 400 `duplicate_term_slug` and those of `create`. */
  update(id: number, changes: TermInput): Promise<Term>;
  /**
   * Its children move to its parent, and posts left without a category get the default one. Returns null if it does not
   * exist. Throws RestError 400 `rest_cannot_delete` for the default category.
   */
  delete(id: number): Promise<Term | null>;
  find(query?: TermQuery): Promise<Term[]>;
  /** Counts without limit and offset. */
  count(query?: TermQuery): Promise<number>;
  /** The terms of posts, by name, for each post that has any. */
  ofPosts(postIds: readonly number[], taxonomy?: string): Promise<ReadonlyMap<number, readonly Term[]>>;
  /** Replaces the terms that a post has of this taxonomy. Unknown ids are ignored, as in WordPress. Returns the ids set. */
  set(postId: number, taxonomy: string, ids: readonly number[]): Promise<number[]>;
  /** Absolute URL of the archive on the public site. */
  link(term: Term): Promise<string>;
}

/** A member that a plugin adds to the posts of a type, or to the terms of a taxonomy, in REST. */
export interface RestField {
  /**
   * The value to show. Without it the field is not shown. Called with the members prepared so far, of those that `_fields`
   * selects. An error that is no RestError makes the value null, and is logged.
   */
  readonly get?: (item: Readonly<Record<string, unknown>>, context: RestFieldContext) => unknown;
  /**
   * Stores the value that a caller has sent. Throw or return a RestError to refuse: then nothing of the request is stored,
   * because all of it runs in one transaction. Do not call other systems in it.
   */
  readonly update?: (value: unknown, item: { readonly id: number }, context: RestFieldContext) => unknown;
  /** Checks the value. Members whose `context` lacks that of the request are left out, at every level. */
  readonly schema?: JsonSchema;
  /** Members of the argument that the schema lacks. A `default` applies to new items. */
  readonly argument?: Pick<RouteArgument, 'validate' | 'sanitize' | 'default'>;
}

export interface RestFieldContext {
  /** Name of the field. */
  readonly name: string;
  /** Post type or taxonomy. */
  readonly type: string;
  readonly request: RestRequest;
}

export interface SearchRequest {
  /** An empty text finds everything. */
  readonly search: string;
  /** At least one of the handler's subtypes. */
  readonly subtypes: readonly string[];
  readonly include: readonly number[];
  readonly exclude: readonly number[];
  /** From 1. */
  readonly page: number;
  /** 1 to 100. */
  readonly perPage: number;
  readonly user: User;
}

/** One result of `/wp/v2/search`. */
export interface SearchResult {
  readonly id: number | string;
  /** HTML. */
  readonly title: string;
  readonly url: string;
  /** Default: the type of the handler. */
  readonly type?: string;
  readonly subtype?: string;
  /** Route of the item, `/wp/v2/posts/7`, and the methods that the user may use on it. */
  readonly route?: string;
  readonly allow?: readonly string[];
  /** Route of its type. */
  readonly aboutRoute?: string;
}

/** What `/wp/v2/search?type=...` finds. */
export interface SearchHandler {
  /** Called for each request. */
  readonly subtypes: () => readonly string[];
  /** One page of the results, and how many there are in all. Show nothing that `user` may not read. */
  readonly find: (
    request: SearchRequest,
  ) => Promise<{ readonly results: readonly SearchResult[]; readonly total: number }>;
}
