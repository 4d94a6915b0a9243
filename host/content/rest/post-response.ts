import { localIso, RestResponse, utcIso, wantsLinks } from '#plugin-api';
import type { Media, Post, PostType, Term, User } from '#plugin-api';
import type { Meta } from '../meta/meta.ts';
import { taxonomiesOf } from '../taxonomies/taxonomies.ts';
import { slugOf } from '../posts/slugs.ts';
import { compactLinks, type ContentRestDependencies, type Context, type Links, type Request } from './context.ts';
import { inContext, metaSchema, postSchema } from './post-schema.ts';
import { termBody, termClasses, termLinks } from './post-terms.ts';
import { withFields } from './rest-fields.ts';

export interface PostResponses {
  /** The response for one post. @param context default: that of the request. Writes respond in the context `edit`. */
  one(post: Post, request: Request, context?: Context): Promise<RestResponse>;
  /** The same for a reader who knows the password of the post. */
  unlocked(post: Post, request: Request): Promise<RestResponse>;
  /** The items of a list, including their links. */
  many(posts: readonly Post[], request: Request): Promise<unknown[]>;
}

/** Converts posts of a type to REST responses. The filter `rest_prepare_{type}` runs last. */
export function createPostResponses(given: ContentRestDependencies, type: PostType): PostResponses {
  const { parts, hooks, site } = given;
  const schema = postSchema(type, parts);
  const links = createLinks(given, type);

  async function prepare({
    post,
    request,
    context,
    values,
    terms,
    media,
    isUnlocked = false,
  }: Preparing): Promise<RestResponse> {
    const body = {
      ...(await commonBody(given, post, await site.timezone())),
      ...(type.name === 'attachment'
        ? await mediaBody(given, post, media)
        : await textBody(given, { post, context, isUnlocked })),
      ...(type.name !== 'attachment' && { password: post.password }),
      ...(type.supports.includes('comments') && { comment_status: post.commentStatus }),
      ...(type.hierarchical && { parent: post.parentId }),
      ...(type.supports.includes('page-attributes') && { menu_order: post.menuOrder }),
      meta: metaBody(type, parts, values),
      ...termBody(parts, type, terms),
      ...(context === 'edit' && {
        permalink_template: await parts.permalinks.template(post),
        generated_slug: slugOf(post.title) || String(post.id),
      }),
      class_list: [
        `post-${post.id}`,
        post.type,
        `type-${post.type}`,
        `status-${post.status}`,
        ...(post.type === 'post' ? ['format-standard'] : []),
        'hentry',
        ...termClasses(parts, type, terms),
      ],
    };
    const shown = { type: type.name, body: inContext(body, schema, context), request, context };
    const response = new RestResponse({
      body: await withFields(parts.fields, shown),
      ...(wantsLinks(request) && { links: await links(post, request.user, context) }),
    });
    return hooks.applyFiltersAsync(`rest_prepare_${type.name}`, response, post, request) as Promise<RestResponse>;
  }

  const hasTerms = (): boolean => taxonomiesOf(parts.taxonomies, type.name).length > 0;
  async function load(posts: readonly Post[]) {
    const keys = Object.keys(metaSchema(type, parts));
    const values = await parts.meta.load(
      posts.map(({ id }) => id),
      keys,
    );
    const terms = hasTerms() ? await parts.terms.ofPosts(posts.map(({ id }) => id)) : new Map<number, Term[]>();
    const media = type.name === 'attachment' ? await parts.media.describe(posts) : [];
    return (post: Post) => ({
      post,
      values: values.get(post.id) ?? new Map<string, unknown[]>(),
      terms: terms.get(post.id) ?? [],
      media: media.find(({ id }) => id === post.id),
    });
  }

  return {
    async one(post, request, context = readContext(request)) {
      return prepare({ ...(await load([post]))(post), request, context });
    },
    async unlocked(post, request) {
      const known = { ...(await load([post]))(post), request, context: readContext(request), isUnlocked: true };
      const response = await prepare(known);
      response.headers['Cache-Control'] = 'private, no-store';
      return response;
    },
    async many(posts, request) {
      const context = readContext(request);
      const facts = await load(posts);
      const responses = await Promise.all(posts.map((post) => prepare({ ...facts(post), request, context })));
      return responses.map(({ body, links: own }) =>
        Object.keys(own).length === 0 ? body : { ...(body as Record<string, unknown>), _links: compactLinks(own) },
      );
    },
  };
}

type MetaValues = ReadonlyMap<string, unknown[]>;

interface Preparing {
  readonly post: Post;
  readonly request: Request;
  readonly context: Context;
  readonly values: MetaValues;
  readonly terms: readonly Term[];
  readonly media: Media | undefined;
  readonly isUnlocked?: boolean;
}

function readContext({ params }: Request): Context {
  return (params['context'] ?? 'view') as Context;
}

async function commonBody(
  { parts, site }: ContentRestDependencies,
  post: Post,
  timezone: string,
): Promise<Record<string, unknown>> {
  const address = `${site.url}/?p=${post.id}`;
  return {
    id: post.id,
    date: localIso(post.date, timezone),
    date_gmt: utcIso(post.date),
    guid: { rendered: address, raw: address },
    modified: localIso(post.modified, timezone),
    modified_gmt: utcIso(post.modified),
    slug: post.slug,
    status: post.status,
    type: post.type,
    link: await parts.permalinks.url(post),
    title: { raw: post.title, rendered: await parts.renderer.title(post) },
    author: post.authorId,
    featured_media: post.featuredMediaId,
  };
}

async function textBody(
  { parts: { renderer } }: ContentRestDependencies,
  { post, context, isUnlocked }: { readonly post: Post; readonly context: Context; readonly isUnlocked: boolean },
): Promise<Record<string, unknown>> {
  // The context `edit` is for users who may edit the post.
  const reader = { isUnlocked: isUnlocked || context === 'edit' };
  const isProtected = post.password !== '';
  return {
    content: {
      raw: post.content,
      rendered: context === 'embed' ? '' : await renderer.content(post, reader),
      protected: isProtected,
    },
    excerpt: { raw: post.excerpt, rendered: await renderer.excerpt(post, reader), protected: isProtected },
  };
}

async function mediaBody(
  { parts: { renderer } }: ContentRestDependencies,
  post: Post,
  media: Media | undefined,
): Promise<Record<string, unknown>> {
  const size = media && media.width !== null ? { width: media.width, height: media.height } : {};
  const full =
    media && media.width !== null
      ? { full: { file: media.file.split('/').at(-1), ...size, mime_type: media.mimeType, source_url: media.url } }
      : {};
  return {
    alt_text: media?.alt ?? '',
    caption: { raw: post.excerpt, rendered: post.excerpt === '' ? '' : await renderer.excerpt(post) },
    description: { raw: post.content, rendered: await renderer.content(post) },
    media_type: post.mimeType.startsWith('image/') ? 'image' : 'file',
    mime_type: post.mimeType,
    media_details: media ? { ...size, file: media.file, filesize: media.size, sizes: full } : {},
    post: post.parentId === 0 ? null : post.parentId,
    source_url: media?.url ?? '',
  };
}

function metaBody(type: PostType, { meta }: { meta: Meta }, values: MetaValues): Record<string, unknown> {
  const keys = Object.keys(metaSchema(type, { meta }));
  return Object.fromEntries(
    keys.map((key) => {
      const definition = meta.find(type.name, key);
      const stored = values.get(key) ?? [];
      return [key, definition?.single === false ? stored : (stored[0] ?? definition?.default ?? null)];
    }),
  );
}

function createLinks(
  given: ContentRestDependencies,
  type: PostType,
): (post: Post, user: User, context: Context) => Promise<Links> {
  const {
    rest,
    parts: { store },
  } = given;
  const base = (): string => rest.url(`/wp/v2/${type.restBase}`);
  return async (post, user, context) => {
    const isEdit = context === 'edit';
    const revisions = type.supports.includes('revisions') ? await store.revisionIds(post.id) : null;
    return {
      self: [{ href: `${base()}/${post.id}`, targetHints: { allow: allowedOn(post, user) } }],
      collection: [{ href: base() }],
      about: [{ href: rest.url(`/wp/v2/types/${type.name}`) }],
      ...(post.authorId > 0 && { author: [{ embeddable: true, href: rest.url(`/wp/v2/users/${post.authorId}`) }] }),
      ...(revisions && { 'version-history': [{ count: revisions.length, href: `${base()}/${post.id}/revisions` }] }),
      ...(revisions?.[0] !== undefined && {
        'predecessor-version': [{ id: revisions[0], href: `${base()}/${post.id}/revisions/${revisions[0]}` }],
      }),
      ...(type.supports.includes('comments') && {
        replies: [{ embeddable: true, href: `${rest.url('/wp/v2/comments')}?post=${post.id}` }],
      }),
      ...(type.hierarchical && post.parentId > 0 && { up: [{ embeddable: true, href: `${base()}/${post.parentId}` }] }),
      ...(post.featuredMediaId > 0 && {
        'https://api.w.org/featuredmedia': [
          { embeddable: true, href: rest.url(`/wp/v2/media/${post.featuredMediaId}`) },
        ],
      }),
      ...(type.name !== 'attachment' && {
        'https://api.w.org/attachment': [{ href: `${rest.url('/wp/v2/media')}?parent=${post.id}` }],
      }),
      ...termLinks(given, type, post.id),
      ...(isEdit &&
        user.can(type.capabilities.publish_posts) && {
          'https://api.w.org/action-publish': [{ href: `${base()}/${post.id}` }],
        }),
      ...(isEdit &&
        user.can('unfiltered_html') && {
          'https://api.w.org/action-unfiltered-html': [{ href: `${base()}/${post.id}` }],
        }),
      ...(isEdit &&
        user.can(type.capabilities.edit_others_posts) && {
          'https://api.w.org/action-assign-author': [{ href: `${base()}/${post.id}` }],
        }),
    };
  };
}

/** The methods that the user may use on a post that is shown to the user. */
export function allowedOn(post: Post, user: User): string[] {
  return [
    'GET',
    ...(user.can('edit_post', post) ? ['POST', 'PUT', 'PATCH'] : []),
    ...(user.can('delete_post', post) ? ['DELETE'] : []),
  ];
}
