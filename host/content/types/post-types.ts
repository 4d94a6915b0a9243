import type { PostType, PostTypeDefinition, PostTypeCapabilities } from '#plugin-api';
import { createRegistry, type Registry } from './registry.ts';

export type PostTypes = Registry<PostType>;

const everything = [
  'title',
  'editor',
  'author',
  'thumbnail',
  'excerpt',
  'revisions',
  'custom-fields',
  'comments',
] as const;

const builtIn: Readonly<Record<string, PostTypeDefinition>> = {
  post: {
    label: 'Posts',
    singularLabel: 'Post',
    public: true,
    supports: everything,
    showInRest: true,
    restBase: 'posts',
  },
  page: {
    label: 'Pages',
    singularLabel: 'Page',
    public: true,
    hierarchical: true,
    supports: [...everything, 'page-attributes'],
    capabilityType: 'page',
    showInRest: true,
    restBase: 'pages',
  },
  attachment: {
    label: 'Media',
    singularLabel: 'Media',
    public: true,
    supports: ['title', 'author'],
    showInRest: true,
    restBase: 'media',
  },
  revision: { label: 'Revisions', singularLabel: 'Revision', supports: ['title', 'editor', 'excerpt', 'author'] },
};

/** A registry with the post types of WordPress. */
export function createPostTypes(): PostTypes {
  const types = createRegistry<PostType>('post type');
  for (const [name, definition] of Object.entries(builtIn)) types.add(definePostType(name, definition, true));
  return types;
}

/** @throws Error for an invalid name or path. */
export function definePostType(name: string, definition: PostTypeDefinition, isBuiltIn = false): PostType {
  if (!/^[a-z0-9_-]{1,20}$/.test(name))
    throw new Error(`'${name}' is not a valid post type; use 1 to 20 lowercase letters, digits, '-' and '_'.`);
  const { capabilityType = 'post', ...rest } = definition;
  const type: PostType = {
    description: '',
    public: false,
    hierarchical: false,
    supports: ['title', 'editor'],
    rewriteSlug: name,
    showInRest: false,
    restBase: name,
    showInAdmin: rest.public ?? false,
    ...rest,
    name,
    isBuiltIn,
    capabilities: capabilitiesOfType(capabilityType),
  };
  for (const [member, path] of [
    ['rewriteSlug', type.rewriteSlug],
    ['restBase', type.restBase],
  ] as const) {
    if (!/^[a-z0-9][a-z0-9_-]*$/.test(path))
      throw new Error(
        `The ${member} '${path}' of the post type '${name}' is not a valid URL path; use lowercase letters, digits, '-' and '_'.`,
      );
  }
  return type;
}

/**
 * The capabilities of a type, named as in WordPress: `page` gives `edit_page`, `edit_pages`, `publish_pages`, ...
 *
 * @param type singular, or `[singular, plural]`. The default plural adds an s.
 */
function capabilitiesOfType(type: string | readonly [singular: string, plural: string]): PostTypeCapabilities {
  const [singular, plural] = typeof type === 'string' ? [type, `${type}s`] : type;
  return {
    edit_post: `edit_${singular}`,
    read_post: `read_${singular}`,
    delete_post: `delete_${singular}`,
    edit_posts: `edit_${plural}`,
    edit_others_posts: `edit_others_${plural}`,
    delete_posts: `delete_${plural}`,
    publish_posts: `publish_${plural}`,
    read_private_posts: `read_private_${plural}`,
    delete_private_posts: `delete_private_${plural}`,
    delete_published_posts: `delete_published_${plural}`,
    delete_others_posts: `delete_others_${plural}`,
    edit_private_posts: `edit_private_${plural}`,
    edit_published_posts: `edit_published_${plural}`,
    create_posts: `edit_${plural}`,
  };
}
