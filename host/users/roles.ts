/** The five roles of WordPress, most powerful first. */
export const roleNames = ['administrator', 'editor', 'author', 'contributor', 'subscriber'] as const;

export type RoleName = (typeof roleNames)[number];

const subscriber = ['read'];
const contributor = [...subscriber, 'edit_posts', 'delete_posts'];
const author = [...contributor, 'upload_files', 'publish_posts', 'edit_published_posts', 'delete_published_posts'];
const editor = [
  ...author,
  'moderate_comments',
  'manage_categories',
  'manage_links',
  'unfiltered_html',
  'edit_others_posts',
  'delete_others_posts',
  'read_private_posts',
  'edit_private_posts',
  'delete_private_posts',
  'edit_pages',
  'publish_pages',
  'delete_pages',
  'edit_published_pages',
  'delete_published_pages',
  'edit_others_pages',
  'delete_others_pages',
  'read_private_pages',
  'edit_private_pages',
  'delete_private_pages',
];
const administrator = [
  ...editor,
  'manage_options',
  'edit_dashboard',
  'import',
  'export',
  'edit_files',
  'unfiltered_upload',
  'customize',
  'delete_site',
  'list_users',
  'create_users',
  'edit_users',
  'promote_users',
  'remove_users',
  'delete_users',
  'activate_plugins',
  'install_plugins',
  'update_plugins',
  'edit_plugins',
  'delete_plugins',
  'switch_themes',
  'edit_theme_options',
  'install_themes',
  'update_themes',
  'edit_themes',
  'delete_themes',
  'update_core',
];

const roleCapabilities: Readonly<Record<RoleName, readonly string[]>> = {
  administrator,
  editor,
  author,
  contributor,
  subscriber,
};

export function isRole(name: string): name is RoleName {
  return (roleNames as readonly string[]).includes(name);
}

/** The combined capabilities of the roles. As in WordPress, each role name is a capability too. */
export function capabilitiesForRoles(roles: readonly string[]): Record<string, boolean> {
  const held = roles.filter(isRole).flatMap((role) => [...roleCapabilities[role], role]);
  return Object.fromEntries(held.map((capability) => [capability, true]));
}
