import type { HooksApi, Post, PostType } from '#plugin-api';
import type { PostStatuses } from './post-statuses.ts';
import type { PostTypes } from './post-types.ts';

/** What capabilities depend on. */
export type PostFacts = Pick<Post, 'id' | 'type' | 'status' | 'authorId' | 'parentId' | 'trashedFrom'>;

export interface MetaCapabilitiesDependencies {
  readonly hooks: Pick<HooksApi, 'addFilter'>;
  readonly types: PostTypes;
  readonly statuses: PostStatuses;
  /** Facts of a post that this process has read, at once. */
  readonly factsOf: (id: number) => PostFacts | undefined;
}

type Act = 'edit' | 'delete' | 'read' | 'publish';

const nobody = ['do_not_allow'];
const metaActs: ReadonlySet<string> = new Set(['edit_post_meta', 'add_post_meta', 'delete_post_meta']);

/**
 * Translates what depends on one post (`edit_post`, `delete_post`, `read_post`, `publish_post`, the same for pages and other
 * types, and `edit_post_meta`) into capabilities of roles, by WordPress's rules: own or others', published, private.
 */
export function addMetaCapabilities(given: MetaCapabilitiesDependencies): void {
  const find = (thing: unknown): PostFacts | undefined => (isFacts(thing) ? thing : given.factsOf(Number(thing)));
  const actOf = createActs(given.types);
  given.hooks.addFilter('map_meta_cap', (...[required, capability, userId, args]) => {
    const act = actOf(capability);
    if (act === undefined || args.length === 0) return required;
    const post = find(args[0]);
    return post === undefined ? nobody : requiredFor(act, post, { ...given, find, userId });
  });
}

/** Answers the act that a capability names, `edit_book` as well as `edit_post`. */
function createActs(types: PostTypes): (capability: string) => Act | undefined {
  const acts = new Map<string, Act>();
  for (const name of metaActs) acts.set(name, 'edit');
  types.follow(({ capabilities }) => {
    acts
      .set(capabilities.edit_post, 'edit')
      .set(capabilities.delete_post, 'delete')
      .set(capabilities.read_post, 'read');
    acts.set(capabilities.edit_post.replace(/^edit_/, 'publish_'), 'publish');
    return () => undefined;
  });
  return (capability) => acts.get(capability);
}

interface Mapping extends MetaCapabilitiesDependencies {
  readonly find: (thing: unknown) => PostFacts | undefined;
  readonly userId: number;
}

function requiredFor(act: Act, post: PostFacts, mapping: Mapping): readonly string[] {
  if (post.type === 'revision') {
    const parent = mapping.find(post.parentId);
    // Whoever may change the post may see and delete its revisions.
    return parent === undefined || parent.type === 'revision'
      ? nobody
      : requiredFor(act === 'read' ? 'edit' : act === 'delete' ? 'edit' : act, parent, mapping);
  }
  const type = mapping.types.get(post.type);
  if (type === undefined) return ['edit_others_posts'];
  if (act === 'read') return requiredToRead(post, type, mapping);
  if (act === 'publish') return [type.capabilities.publish_posts];
  return requiredToChange(act, { post, type, userId: mapping.userId });
}

function requiredToChange(
  act: 'edit' | 'delete',
  { post, type: { capabilities }, userId }: { post: PostFacts; type: PostType; userId: number },
): readonly string[] {
  const status = post.status === 'trash' ? (post.trashedFrom ?? 'draft') : post.status;
  const isPublished = status === 'publish' || status === 'future';
  const isOwn = post.authorId > 0 && post.authorId === userId;
  if (isOwn) return [isPublished ? capabilities[`${act}_published_posts`] : capabilities[`${act}_posts`]];
  return [
    capabilities[`${act}_others_posts`],
    ...(isPublished ? [capabilities[`${act}_published_posts`]] : []),
    ...(status === 'private' ? [capabilities[`${act}_private_posts`]] : []),
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

function isFacts(thing: unknown): thing is PostFacts {
  return typeof thing === 'object' && thing !== null && 'type' in thing && 'status' in thing && 'authorId' in thing;
}
