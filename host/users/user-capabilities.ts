/** Capabilities about one user, with what they stand for. */
const aboutUsers: Readonly<Record<string, string>> = {
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
 * What a capability about a user (`edit_user`, 7) stands for, as in WordPress: everybody may edit themselves and their
 * own application passwords. Any other capability stands for itself.
 */
export function mapUserCapability(capability: string, userId: number, args: readonly unknown[]): readonly string[] {
  const needed = Object.hasOwn(aboutUsers, capability) ? aboutUsers[capability] : undefined;
  if (needed === undefined) return [capability];
  const isOwn = userId > 0 && Number(args[0]) === userId;
  return isOwn && needed === 'edit_users' ? ['exist'] : [needed];
}
