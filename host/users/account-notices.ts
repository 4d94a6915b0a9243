import type { HooksApi, Logger, UsersApi } from '#plugin-api';
import type { AccountMail, AccountMailer } from './password-mails.ts';

export interface AccountNoticesDependencies {
  readonly hooks: Pick<HooksApi, 'addAction'>;
  readonly users: Pick<UsersApi, 'get'>;
  readonly mailer: AccountMailer;
  readonly log: Logger;
}

/**
 * Mails the owner of an account when its password or email address changed, when it got an application password and when its
 * sign-in is throttled, so that a takeover is noticed. A change of the address is reported to the previous one. Without a mail
 * server nothing is sent.
 */
export function addAccountNotices({ hooks, users, mailer, log }: AccountNoticesDependencies): void {
  async function notify(to: AccountMail['to'], template: string, data: AccountMail['data'] = {}): Promise<void> {
    if (!(await mailer.isAvailable())) return;
    await mailer.queue({ to, template, data });
    log.info('Account notice queued', { event: 'account_notice_queued', template });
  }

  hooks.addAction('user_password_changed', async (userId) => {
    const user = await users.get(userId);
    if (user) await notify(user, 'password-changed');
  });
  hooks.addAction('profile_update', async (userId, before) => {
    const user = await users.get(userId);
    if (user && user.email.toLowerCase() !== before.email.toLowerCase())
      await notify({ ...user, email: before.email }, 'email-changed');
  });
  hooks.addAction('wp_create_application_password', async (userId, name) => {
    const user = await users.get(userId);
    if (user) await notify(user, 'application-password', { program: name });
  });
  hooks.addAction('login_throttled', (user, { ip, failures }) => {
    // Not awaited: the time of the failed sign-in must not reveal that the account exists.
    notify(user, 'sign-in-throttled', { ip, failures }).catch((error: unknown) =>
      log.error('Account notice failed', { event: 'account_notice_failed', error }),
    );
  });
}
