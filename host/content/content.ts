import { join } from 'node:path';
import type {
  Clock,
  ContentApi,
  CronApi,
  DocumentsApi,
  HooksApi,
  Logger,
  OptionsApi,
  Post,
  SearchHandler,
  SiteApi,
} from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { createCommentStore } from './comments/comment-store.ts';
import { createCountCache, type CountCache } from './count-cache.ts';
import {
  addPersonalData,
  commentsApi,
  createComments,
  defaultCommentStatusSetting,
  registerCommentSettings,
  type Comments,
} from './comments/comments.ts';
import { contentErrors } from './errors.ts';
import { createMediaLibrary, type MediaLibrary, uploadLimitSetting } from './media/media.ts';
import { createUploadBucket, type BucketSettings } from './media/upload-bucket.ts';
import { createUploadFolder } from './media/upload-folder.ts';
import type { UploadStore } from './media/upload-store.ts';
import { createMeta, type CompileSchema, type Meta } from './meta/meta.ts';
import { createPermalinks, type Permalinks } from './permalinks.ts';
import { createSanitizer, type Sanitizer } from './html/sanitizer.ts';
import { createFactsCache } from './posts/post-store.ts';
import { createPostRemoval, type PostRemoval } from './posts/post-removal.ts';
import { createPostStore, type PostStore } from './posts/post-store.ts';
import { createPostWriter, type PostWriter } from './posts/post-writer.ts';
import { createAutosaves, createRevisionWriter, revisionsSetting, type Autosaves } from './posts/revisions.ts';
import { createRestFields, type RestFields } from './rest/rest-fields.ts';
import { createRegistry, type Registry } from './types/registry.ts';
import { addScheduledWork } from './posts/post-events.ts';
import { sanitizeComment, sanitizeHtml } from './html/sanitize.ts';
import { reassignPostsOfDeletedUsers } from './posts/post-events.ts';
import { createRenderer, type Renderer } from './render.ts';
import { createShortcodes, type Shortcodes } from './shortcodes/shortcodes.ts';
import {
  addTermCapabilities,
  createTaxonomies,
  defaultCategorySetting,
  defineTaxonomy,
  type Taxonomies,
} from './taxonomies/taxonomies.ts';
import { createTermStore } from './taxonomies/term-store.ts';
import { createTerms, type Terms } from './taxonomies/terms.ts';
import { addMetaCapabilities } from './types/meta-capabilities.ts';
import { createPostStatuses, defineStatus, type PostStatuses } from './types/post-statuses.ts';
import { createPostTypes, definePostType, type PostTypes } from './types/post-types.ts';

export { migrations } from './migrations.ts';

export interface ContentDependencies {
  readonly database: Database;
  readonly hooks: HooksApi;
  readonly options: OptionsApi;
  readonly cron: CronApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly site: SiteApi;
  readonly documents: DocumentsApi;
  /** Data folder. With `:memory:`, uploads are stored in a temporary folder until `stop`. */
  readonly dataDir: string;
  /** Stores uploads in place of the data folder. */
  readonly uploadsBucket?: BucketSettings | null;
  readonly compileSchema: CompileSchema;
}

/** Parts that routes and pages of the host use in addition to ContentApi. */
export interface ContentParts {
  readonly store: PostStore;
  readonly counts: CountCache;
  readonly writer: PostWriter;
  readonly autosaves: Autosaves;
  readonly removal: PostRemoval;
  readonly types: PostTypes;
  readonly statuses: PostStatuses;
  readonly meta: Meta;
  readonly media: MediaLibrary;
  readonly uploads: UploadStore;
  readonly permalinks: Permalinks;
  readonly renderer: Renderer;
  readonly comments: Comments;
  readonly taxonomies: Taxonomies;
  readonly terms: Terms;
  readonly fields: RestFields;
  readonly searchHandlers: Registry<NamedSearchHandler>;
}

/** A handler of `/wp/v2/search` with its type. */
export interface NamedSearchHandler extends SearchHandler {
  readonly name: string;
}

export interface Content {
  readonly api: ContentApi;
  readonly parts: ContentParts;
  /** Names of the shortcodes. */
  shortcodeTags(): readonly string[];
  stop(): Promise<void>;
}

/** Posts of all types, media and shortcodes. Implements ContentApi. */
export async function createContent(given: ContentDependencies): Promise<Content> {
  const { hooks, options, log } = given;
  registerContentSettings(options);
  registerCommentSettings(options);
  const registry = createShortcodes({ hooks, log });
  const parts = createParts(given, createRenderer({ hooks, shortcodes: registry }));
  const { scan: _scan, tags: shortcodeTags, ...shortcodes } = registry;
  const { store, writer, removal } = parts;
  addScheduledWork({ ...given, store, writer, removal });
  reassignPostsOfDeletedUsers({ hooks, store, writer, removal });
  addPersonalData({ hooks, store: parts.comments.store });
  await store.follow();
  await parts.counts.follow();
  return { api: createApi({ parts, shortcodes, hooks }), parts, shortcodeTags, stop: () => parts.uploads.close() };
}

function createParts(given: ContentDependencies, renderer: Renderer): ContentParts {
  const { database, hooks, options, cron, clock, site, compileSchema } = given;
  const types = createPostTypes();
  const statuses = createPostStatuses();
  const counts = createCountCache(database);
  const sanitizer = createSanitizer(given.documents);
  const ofTerms = createTermParts(given, counts, sanitizer);
  const facts = createFactsCache();
  addMetaCapabilities({ hooks, types, statuses, getFacts: (id) => facts.get(id) });
  const store = createPostStore({ database, types, statuses, facts, counts });
  const meta = createMeta({
    database,
    hooks,
    compileSchema,
    getType: async (id) => (await store.get(id))?.type ?? null,
  });
  const writer = createPostWriter({
    database,
    ...{ store, types, statuses, hooks, clock, cron, meta, sanitizer },
    terms: ofTerms.terms,
    revisions: createRevisionWriter({ store, options, hooks }),
    defaultCommentStatus: async () =>
      (await options.get<unknown>(defaultCommentStatusSetting)) === 'open' ? 'open' : 'closed',
  });
  const uploads = createUploadStore(given);
  const removalNow = (): PostRemoval => removal;
  const media: MediaLibrary = createMediaLibrary({ ...given, store, writer, removal: removalNow, meta, uploads });
  const removal = createPostRemoval({
    database,
    store,
    writer,
    hooks,
    cron,
    clock,
    removeFile: (attachment) => media.removeFile(attachment),
  });
  const permalinks = createPermalinks({ site, store, types, media: () => media, hooks });
  const commentStore = createCommentStore({ database, types, statuses, counts });
  const comments = createComments({ store: commentStore, posts: store, types, hooks, options, clock, sanitizer });
  return {
    store,
    counts,
    writer,
    autosaves: createAutosaves({ database, store, hooks, clock, sanitizer }),
    removal,
    types,
    statuses,
    meta,
    media,
    uploads,
    permalinks,
    renderer,
    comments,
    ...ofTerms,
    fields: createRestFields(),
    searchHandlers: createRegistry<NamedSearchHandler>('search type'),
  };
}

function createTermParts(
  { database, hooks, options, site }: ContentDependencies,
  counts: CountCache,
  sanitizer: Sanitizer,
): Pick<ContentParts, 'taxonomies' | 'terms'> {
  const taxonomies = createTaxonomies();
  addTermCapabilities(hooks, taxonomies);
  return {
    taxonomies,
    terms: createTerms({
      ...{ database, taxonomies, hooks, options, site, sanitizer },
      store: createTermStore({ database, counts }),
    }),
  };
}

function createUploadStore({ dataDir, uploadsBucket, log }: ContentDependencies): UploadStore {
  if (uploadsBucket) return createUploadBucket(uploadsBucket, { log });
  return createUploadFolder(dataDir === ':memory:' ? null : join(dataDir, 'uploads'));
}

interface ApiDependencies {
  readonly parts: ContentParts;
  readonly shortcodes: Shortcodes;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
}

function createApi({ parts, shortcodes, hooks }: ApiDependencies): ContentApi {
  const { store, writer, removal, types, statuses, meta, media, permalinks, renderer } = parts;
  return {
    posts: {
      create: (post, write) => writer.create(post, write),
      get: (id) => store.get(id),
      update: (id, changes, write) => writer.update(id, changes, write),
      delete: (id, choice) => removal.delete(id, choice),
      untrash: (id) => removal.untrash(id),
      find: (query = {}) => store.find(query),
      count: (query = {}) => store.count(query),
    },
    meta: { get: meta.get, all: meta.all, update: meta.update, increment: meta.increment, delete: meta.delete },
    revisions: createRevisions(parts, hooks),
    media: {
      save: media.save,
      get: media.get,
      url: media.url,
      read: media.read,
      makePrivate: media.makePrivate,
      delete: media.delete,
    },
    terms: termsApi(parts.terms),
    comments: commentsApi(parts.comments, store),
    registerTaxonomy: (name, definition) => parts.taxonomies.add(defineTaxonomy(name, definition)),
    registerRestField: (of, name, field) => parts.fields.register(of, name, field),
    registerSearchHandler: (type, handler) => parts.searchHandlers.add({ ...handler, name: type }),
    taxonomy: (name) => parts.taxonomies.get(name),
    taxonomies: () => parts.taxonomies.all(),
    registerPostType: (name, definition) => types.add(definePostType(name, definition)),
    registerPostStatus: (name, definition) => statuses.add(defineStatus(name, definition)),
    registerMeta: meta.register,
    postType: (name) => types.get(name),
    postTypes: () => types.all(),
    postStatuses: () => statuses.all(),
    ...shortcodes,
    async can(user, capability, postId) {
      const post = await store.get(postId);
      if (post !== null && post.parentId > 0) await store.get(post.parentId);
      return post !== null && user.can(capability, post);
    },
    sanitize: (html, as = 'post') => (as === 'comment' ? sanitizeComment(html) : sanitizeHtml(html)),
    permalink: permalinks.url,
    render: async (post) => ({
      title: await renderer.title(post),
      content: await renderer.content(post),
      excerpt: await renderer.excerpt(post),
    }),
  };
}

function termsApi(terms: Terms): ContentApi['terms'] {
  const { isDefault: _isDefault, links: _links, writePost: _writePost, ...api } = terms;
  return api;
}

function createRevisions(
  { store, writer }: ContentParts,
  hooks: Pick<HooksApi, 'doActionAsync'>,
): ContentApi['revisions'] {
  return {
    list: (postId) => store.find({ type: 'revision', status: 'inherit', parents: [postId], limit: 1000 }),
    async restore(revisionId, write) {
      const revision: Post | null = await store.get(revisionId);
      if (revision?.type !== 'revision') throw contentErrors.rest_post_invalid_id();
      const { title, content, excerpt } = revision;
      const restored = await writer.update(revision.parentId, { title, content, excerpt }, write);
      await hooks.doActionAsync('wp_restore_post_revision', restored.id, revisionId);
      return restored;
    },
  };
}

function registerContentSettings(options: Pick<OptionsApi, 'registerSetting'>): void {
  options.registerSetting('posts_per_page', {
    group: 'reading',
    label: 'Posts per page',
    showInRest: true,
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 10,
      description: 'On the home page, in search results and in the feed.',
    },
  });
  options.registerSetting(defaultCategorySetting, {
    group: 'writing',
    label: 'Default category (number)',
    showInRest: true,
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 2_147_483_647,
      default: 1,
      description: 'Posts without a category get it. It cannot be deleted.',
    },
  });
  options.registerSetting(revisionsSetting, {
    group: 'writing',
    label: 'Revisions per post',
    schema: {
      type: 'integer',
      minimum: -1,
      maximum: 1000,
      default: 25,
      description: 'The oldest are deleted first. 0 stores none, -1 stores all.',
    },
  });
  options.registerSetting(uploadLimitSetting, {
    group: 'media',
    label: 'Maximum upload size (MB)',
    schema: { type: 'integer', minimum: 1, maximum: 500, default: 10 },
  });
}
