import type { HooksApi, Knex, Post, PostType, User } from '#plugin-api';
import type { PostStatuses } from './post-statuses.ts';
import type { PostTypes } from './post-types.ts';

/** The fields of a post that capabilities depend on. */
export type PostFacts = Pick<Post, 'id' | 'type' | 'status' | 'authorId' | 'parentId' | 'trashedFrom'>;

export interface MetaCapabilitiesDependencies {
  readonly hooks: Pick<HooksApi, 'addFilter'>;
  readonly types: PostTypes;
  readonly statuses: PostStatuses;
  /** Returns the facts of a post that this process has read. Synchronous. */
  readonly getFacts: (id: number) => PostFacts | undefined;
}

type Operation = 'edit' | 'delete' | 'read' | 'publish';

const denied = ['do_not_allow'];
const metaCapabilities: ReadonlySet<string> = new Set(['edit_post_meta', 'add_post_meta', 'delete_post_meta']);

/**
 * Maps capabilities for one post (`edit_post`, `delete_post`, `read_post`, `publish_post`, those of other types, and
 * `edit_post_meta`) to capabilities of roles. As in WordPress, the author and the status of the post decide.
 */
export function addMetaCapabilities(given: MetaCapabilitiesDependencies): void {
  const find = (value: unknown): PostFacts | undefined => (isPostFacts(value) ? value : given.getFacts(Number(value)));
  const findOperation = createOperations(given.types);
  given.hooks.addFilter('map_meta_cap', (...[required, capability, userId, args]) => {
    const operation = findOperation(capability);
    if (operation === undefined || args.length === 0) return required;
    const post = find(args[0]);
    return post === undefined ? denied : requiredFor(operation, post, { ...given, find, userId });
  });
}

/** Finds the operation of a capability, for example of `edit_book` or `edit_post`. */
function createOperations(types: PostTypes): (capability: string) => Operation | undefined {
  const operations = new Map<string, Operation>();
  for (const name of metaCapabilities) operations.set(name, 'edit');
  types.follow(({ capabilities }) => {
    operations
      .set(capabilities.edit_post, 'edit')
      .set(capabilities.delete_post, 'delete')
      .set(capabilities.read_post, 'read');
    operations.set(capabilities.edit_post.replace(/^edit_/, 'publish_'), 'publish');
    return () => undefined;
  });
  return (capability) => operations.get(capability);
}

interface Mapping extends MetaCapabilitiesDependencies {
  readonly find: (value: unknown) => PostFacts | undefined;
  readonly userId: number;
}

function requiredFor(operation: Operation, post: PostFacts, mapping: Mapping): readonly string[] {
  if (post.type === 'revision') {
    const parent = mapping.find(post.parentId);
    // Users who can edit the post can read and delete its revisions.
    return parent === undefined || parent.type === 'revision'
      ? denied
      : requiredFor(operation === 'read' ? 'edit' : operation === 'delete' ? 'edit' : operation, parent, mapping);
  }
  const type = mapping.types.get(post.type);
  if (type === undefined) return ['edit_others_posts'];
  if (operation === 'read') return requiredToRead(post, type, mapping);
  if (operation === 'publish') return [type.capabilities.publish_posts];
  return requiredToChange(operation, { post, type, userId: mapping.userId });
}

function requiredToChange(
  operation: 'edit' | 'delete',
  { post, type: { capabilities }, userId }: { post: PostFacts; type: PostType; userId: number },
): readonly string[] {
  const status = post.status === 'trash' ? (post.trashedFrom ?? 'draft') : post.status;
  const isPublished = status === 'publish' || status === 'future';
  const isOwn = post.authorId > 0 && post.authorId === userId;
  if (isOwn) return [isPublished ? capabilities[`${operation}_published_posts`] : capabilities[`${operation}_posts`]];
  return [
    capabilities[`${operation}_others_posts`],
    ...(isPublished ? [capabilities[`${operation}_published_posts`]] : []),
    ...(status === 'private' ? [capabilities[`${operation}_private_posts`]] : []),
  ];
}

function requiredToRead(post: PostFacts, type: PostType, mapping: Mapping): readonly string[] {
  const parent = post.status === 'inherit' && post.parentId > 0 ? mapping.find(post.parentId) : undefined;
  const status = post.status === 'inherit' ? (parent?.status ?? 'publish') : post.status;
  const rules = mapping.statuses.get(status);
  if (rules?.public === true) return type.public || type.showInRest ? ['exist'] : ['read'];
  if (post.authorId > 0 && post.authorId === mapping.userId) return ['read'];
  return rules?.private === true
    ? [type.capabilities.read_private_posts]
    : requiredToChange('edit', { post, type, userId: mapping.userId });
}

function isPostFacts(value: unknown): value is PostFacts {
  return typeof value === 'object' && value !== null && 'type' in value && 'status' in value && 'authorId' in value;
}

/** The rules of `read_post` as a condition over many posts. */
export function whereVisible(
  select: Knex.QueryBuilder,
  { knex, types, statuses }: Pick<MetaCapabilitiesDependencies, 'types' | 'statuses'> & { readonly knex: Knex },
  user: User,
): void {
  const open = statuses
    .all()
    .filter((status) => status.public)
    .map(({ name }) => name);
  const hidden = statuses
    .all()
    .filter((status) => status.private)
    .map(({ name }) => name);
  const others = statuses
    .all()
    .filter((status) => !status.public && !status.private && status.name !== 'inherit')
    .map(({ name }) => name);
  void select.where((visible) => {
    void visible.whereIn('posts.status', open);
    // An attachment is visible together with its parent post.
    void visible.orWhere((rows) => {
      void rows.where('posts.status', 'inherit');
      if (user.can('edit_others_posts')) return;
      void rows.where(
        (free) =>
          void free
            .where('posts.parent_id', 0)
            .orWhereIn('posts.parent_id', knex('posts as above').select('above.id').whereIn('above.status', open)),
      );
    });
    if (user.id > 0) void visible.orWhere('posts.author_id', user.id);
    for (const { name, capabilities } of types.all()) {
      if (user.can(capabilities.read_private_posts))
        void visible.orWhere((rows) => void rows.where('posts.type', name).whereIn('posts.status', hidden));
      if (user.can(capabilities.edit_others_posts))
        void visible.orWhere((rows) => void rows.where('posts.type', name).whereIn('posts.status', others));
    }
  });
}
