import type { PostTypeCapabilities } from '#plugin-api';

/**
 * The capabilities of a type as WordPress names them: `page` gives `edit_page`, `edit_pages`, `publish_pages`, ...
 *
 * @param type singular, or `[singular, plural]`; without a plural an s is added.
 */
export function capabilitiesOfType(type: string | readonly [singular: string, plural: string]): PostTypeCapabilities {
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
