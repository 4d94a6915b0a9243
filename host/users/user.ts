import { isProgram } from '#plugin-api';
import type { HooksApi, User, UserProfile } from '#plugin-api';
import { createRoles, type Roles } from './roles.ts';

/** Required capability by capability for one user. */
const userCapabilities: Readonly<Record<string, string>> = {
  edit_user: 'edit_users',
  delete_user: 'delete_users',
  remove_user: 'remove_users',
  promote_user: 'promote_users',
  create_app_password: 'edit_users',
  list_app_passwords: 'edit_users',
  read_app_password: 'edit_users',
  edit_app_password: 'edit_users',
  delete_app_passwords: 'edit_users',
  delete_app_password: 'edit_users',
};

/**
 * Maps a capability for a user (`edit_user`, 7) as in WordPress: users can edit themselves and their own application
 * passwords. Programs never write scripts. Other capabilities remain unchanged.
 */
function mapUserCapability(capability: string, userId: number, args: readonly unknown[]): readonly string[] {
  if (capability === 'unfiltered_html' && isProgram()) return ['do_not_allow'];
  const needed = Object.hasOwn(userCapabilities, capability) ? userCapabilities[capability] : undefined;
  if (needed === undefined) return [capability];
  const isOwn = userId > 0 && Number(args[0]) === userId;
  return isOwn && needed === 'edit_users' ? ['exist'] : [needed];
}

const fileCapabilities = new Set(
  ['plugins', 'themes'].flatMap((kind) => ['install', 'update', 'edit', 'delete'].map((verb) => `${verb}_${kind}`)),
);

/**
 * Denies every user, administrators included, to change the code of the site, as `DISALLOW_FILE_MODS` does in WordPress.
 * Commands have no user and go on working.
 */
export function disallowFileMods(hooks: Pick<HooksApi, 'addFilter'>): void {
  hooks.addFilter('map_meta_cap', (required, capability) =>
    fileCapabilities.has(capability) ? ['do_not_allow'] : required,
  );
}

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** The capabilities of a user, before the check of the `required` ones. `args` is [capability, user id, ...further]. */
    user_has_cap: (
      ...args: [
        held: Readonly<Record<string, boolean>>,
        required: readonly string[],
        args: readonly unknown[],
        user: User,
      ]
    ) => Readonly<Record<string, boolean>>;
    /** Maps a capability for an object (`edit_post`) to the required ones. `do_not_allow` denies all users. */
    map_meta_cap: (
      ...args: [required: readonly string[], capability: string, userId: number, args: readonly unknown[]]
    ) => readonly string[];
  }
}

export interface UserFacts {
  readonly id: number;
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  /** Milliseconds since the epoch; absent for visitors. */
  readonly registeredAt?: number;
  readonly profile?: UserProfile;
}

/** What the capabilities of users need from the hooks. */
export interface CapabilityHooks extends Pick<HooksApi, 'applyFilters'> {
  /** Logs the error of a filter whose value is not used, with the plugins that have callbacks. */
  reportFilterFailure?(hook: string, error: unknown): void;
}

const builtInRoles = createRoles();

/**
 * Creates a user whose capabilities follow WordPress: roles, then the filters `map_meta_cap` and `user_has_cap`. If one of
 * them throws, an administrator has the capabilities of the roles, to be able to deactivate the plugin, but cannot change
 * code, which a filter may have denied; other users may do nothing that needs a capability, and visitors go on reading.
 */
export function createUser(
  facts: UserFacts,
  hooks: CapabilityHooks,
  roles: Pick<Roles, 'capabilitiesOf'> = builtInRoles,
): User {
  const held = Object.freeze({ ...roles.capabilitiesOf(facts.roles), exist: true });
  // Of administrators, who have to be able to deactivate the plugin, the unfiltered value; of others, nothing is permitted.
  const filtered = <Value>(hook: string, filter: () => Value, { unfiltered, denied }: OnFailure<Value>): Value => {
    try {
      return filter();
    } catch (error) {
      hooks.reportFilterFailure?.(hook, error);
      return facts.roles.includes('administrator') ? unfiltered : denied;
    }
  };
  const user: User = {
    ...facts,
    can(capability, ...args) {
      const mapped = mapUserCapability(capability, facts.id, args);
      const required = filtered(
        'map_meta_cap',
        () => hooks.applyFilters('map_meta_cap', mapped, capability, facts.id, args),
        { unfiltered: fileCapabilities.has(capability) ? ['do_not_allow'] : mapped, denied: ['do_not_allow'] },
      );
      const granted = filtered(
        'user_has_cap',
        () => hooks.applyFilters('user_has_cap', held, required, [capability, facts.id, ...args], user),
        { unfiltered: held, denied: {} },
      );
      return required.every(
        (name) =>
          name === 'exist' || (name !== 'do_not_allow' && Object.hasOwn(granted, name) && granted[name] === true),
      );
    },
  };
  return user;
}

interface OnFailure<Value> {
  readonly unfiltered: Value;
  readonly denied: Value;
}

/** The user object of visitors. */
export function createAnonymous(hooks: CapabilityHooks): User {
  return createUser({ id: 0, login: '', email: '', displayName: '', roles: [] }, hooks);
}
