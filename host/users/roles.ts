import type { Role, UsersApi } from '#plugin-api';

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
  // A writer of scripts can act for every reader, so no other role has it.
  'unfiltered_html',
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

/** The roles of WordPress, with the roles and capabilities that plugins add. */
export interface Roles extends Pick<UsersApi, 'roles' | 'addRole' | 'addCapability'> {
  isRole(name: string): boolean;
  /** The combined capabilities of roles. As in WordPress, each role name is a capability too. Unknown roles have none. */
  capabilitiesOf(roles: readonly string[]): Record<string, boolean>;
}

/** The roles of one site. Each process has its own: the plugins register the same in all of them. */
export function createRoles(): Roles {
  const roles = new Map<string, Role>(
    roleNames.map((name) => [
      name,
      { name, label: name.charAt(0).toUpperCase() + name.slice(1), capabilities: roleCapabilities[name] },
    ]),
  );
  // An object for each call: two plugins may grant the same capability, and each undoes its own.
  const grants = new Set<{ readonly role: string; readonly capability: string }>();
  const capabilitiesOfRole = ({ name, capabilities }: Role): string[] => {
    if (grants.size === 0) return [...capabilities];
    const granted = [...grants].filter(({ role }) => role === name).map(({ capability }) => capability);
    return [...new Set([...capabilities, ...granted])];
  };

  return {
    roles: () => [...roles.values()].map((role) => ({ ...role, capabilities: capabilitiesOfRole(role) })),
    isRole: (name) => roles.has(name),
    capabilitiesOf(names) {
      const known = names.flatMap((name) => roles.get(name) ?? []);
      const held = known.flatMap((role) => [...capabilitiesOfRole(role), role.name]);
      return Object.fromEntries(held.map((capability) => [capability, true]));
    },
    addRole({ name, label, capabilities }) {
      checkName('role', name);
      for (const capability of capabilities) checkName('capability', capability);
      if (roles.has(name)) throw new Error(`The role '${name}' already exists.`);
      const role = { name, label, capabilities: [...new Set(capabilities)] };
      roles.set(name, role);
      return () => {
        if (roles.get(name) === role) roles.delete(name);
      };
    },
    addCapability(role, capability) {
      checkName('capability', capability);
      if (!roles.has(role))
        throw new Error(
          `There is no role '${role}'. If another plugin adds it, name that plugin under "requires" in plugin.json.`,
        );
      const grant = { role, capability };
      grants.add(grant);
      return () => void grants.delete(grant);
    },
  };
}

function checkName(kind: string, name: unknown): void {
  if (typeof name === 'string' && /^[a-z][a-z0-9_-]{0,59}$/.test(name)) return;
  throw new Error(
    `'${String(name)}' is no name of a ${kind}: use 1 to 60 lowercase letters, digits, '_' and '-', beginning with a letter.`,
  );
}
