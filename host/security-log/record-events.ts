import { currentRequest, type HooksApi } from '#plugin-api';
import type { SecurityEvent, SecurityLog } from './security-log.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** Adds an entry to the security log. `details` must hold no secret. */
    security_event: (event: SecurityEvent) => void;
  }
}

/** Writing content is no matter of security. */
const contentCapabilities = new Set(['edit_posts', 'edit_pages', 'upload_files']);

/** Who did it, from where and through which door: what the event says, else what is known of the request that runs. */
function withActor({ event, userId = 0, ip = '', details }: SecurityEvent): SecurityEvent {
  const request = currentRequest();
  const { door = 'job', key = '', ability = '' } = request ?? {};
  return {
    event,
    userId: userId === 0 ? (request?.userId ?? 0) : userId,
    ip: ip === '' ? (request?.ip ?? '') : ip,
    details: { ...details, door, ...(key !== '' && { key }), ...(ability !== '' && { ability }) },
  };
}

/**
 * Records sign-ins, users, roles, passwords, keys, plugins, secrets, abilities that change something, and every action of
 * administrators in the admin, each with who did it, from where and through which door.
 *
 * @param users a name that no account has may be a password that was typed into the wrong field.
 * @param hasOtherSecrets whether two values of a registered setting differ in a secret; such values are in plain text here.
 */
export function recordSecurityEvents(
  hooks: Pick<HooksApi, 'addAction'>,
  securityLog: Pick<SecurityLog, 'record'>,
  {
    users,
    hasOtherSecrets,
  }: {
    readonly users: { find(login: string): Promise<unknown> };
    readonly hasOtherSecrets: (option: string, before: unknown, after: unknown) => boolean;
  },
): void {
  const record = (event: SecurityEvent): Promise<void> => securityLog.record(withActor(event));
  hooks.addAction('security_event', record);
  hooks.addAction('admin_action_done', async ({ page, action, capability, userId, ip, download, readOnly }) => {
    if (contentCapabilities.has(capability) || readOnly) return;
    const details = { page, action, ...(download !== null && { download }) };
    await record({ event: download === null ? 'admin_action' : 'exported', userId, ip, details });
  });
  hooks.addAction('wp_login', (login, user, ip) =>
    record({ event: 'signed_in', userId: user.id, ip, details: { login } }),
  );
  hooks.addAction('wp_login_failed', async (login, ip) =>
    record({ event: 'sign_in_failed', ip, details: (await users.find(login)) !== null ? { login } : {} }),
  );
  hooks.addAction('wp_logout', (userId) => record({ event: 'signed_out', userId }));
  hooks.addAction('two_factor_failed', (user) => record({ event: 'two_factor_failed', details: { user } }));
  hooks.addAction('two_factor_enabled', (userId, method) =>
    record({ event: 'two_factor_enabled', userId, details: { method } }),
  );
  hooks.addAction('two_factor_disabled', (user, method, userId) =>
    record({ event: 'two_factor_disabled', userId, details: { user, method } }),
  );
  hooks.addAction('passkey_added', (userId) => record({ event: 'passkey_added', userId }));
  hooks.addAction('passkey_removed', (userId) => record({ event: 'passkey_removed', userId }));
  hooks.addAction('recovery_code_used', (userId, left) =>
    record({ event: 'recovery_code_used', userId, details: { left } }),
  );
  hooks.addAction('user_register', (user) => record({ event: 'user_created', details: { user } }));
  hooks.addAction('profile_update', (user) => record({ event: 'user_changed', details: { user } }));
  hooks.addAction('deleted_user', (user, _reassignTo, { login }) =>
    record({ event: 'user_deleted', details: { user, login } }),
  );
  hooks.addAction('set_user_role', (user, role, before) =>
    record({ event: 'role_changed', details: { user, role, before: before.join(', ') } }),
  );
  hooks.addAction('user_password_changed', (user) => record({ event: 'password_changed', details: { user } }));
  hooks.addAction('after_password_reset', ({ id: user }) => record({ event: 'password_reset', details: { user } }));
  hooks.addAction('wp_create_application_password', (user, name) =>
    record({ event: 'application_password_created', details: { user, name } }),
  );
  hooks.addAction('wp_delete_application_password', (user, name) =>
    record({ event: 'application_password_revoked', details: { user, name } }),
  );
  hooks.addAction('activated_plugin', (plugin) => record({ event: 'plugin_activated', details: { plugin } }));
  hooks.addAction('deactivated_plugin', (plugin) => record({ event: 'plugin_deactivated', details: { plugin } }));
  hooks.addAction('added_option', (option, value) => recordSecret(option, null, value));
  hooks.addAction('updated_option', recordSecret);

  /** Options are known to hold secrets by their encrypted values, registered settings by their schemas (D3). */
  async function recordSecret(option: string, before: unknown, value: unknown): Promise<void> {
    if (encryptedIn(before) !== encryptedIn(value) || hasOtherSecrets(option, before, value))
      await record({ event: 'secret_changed', details: { option } });
  }
}

/** The encrypted values in an option: a value that stays is not encrypted again. */
function encryptedIn(value: unknown): string {
  return (JSON.stringify(value ?? null).match(/"enc:v[^"]*"/g) ?? []).join();
}
