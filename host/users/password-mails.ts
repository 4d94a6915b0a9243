import { createHash } from 'node:crypto';
import { clientNetwork, formatRetryTime } from '#plugin-api';
import type { Clock, DatabaseApi, HooksApi, Logger, User, UsersApi } from '#plugin-api';
import { count, limitReached } from './login-limiter.ts';
import { linkLifetimes, type PasswordLinkKind, type PasswordLinks } from './password-links.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After a reset link was created for a user who forgot the password. */
    retrieve_password: (login: string) => void;
    /** After a user chose a new password by a reset link or an invitation. */
    after_password_reset: (user: User) => void;
  }
}

/** A mail from a template in `views/mail`, in the language of the recipient. */
export interface AccountMail {
  readonly to: Pick<User, 'email' | 'login' | 'displayName' | 'profile'>;
  readonly template: string;
  /** Values of the template besides the name and the login of the recipient. */
  readonly data?: Readonly<Record<string, string | number>>;
}

export interface AccountMailer {
  isAvailable(): Promise<boolean>;
  queue(mail: AccountMail, options?: { readonly expiresAt?: number }): Promise<void>;
}

export interface PasswordMailsDependencies {
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'> & { lock(name: string): Promise<void> };
  readonly links: PasswordLinks;
  readonly users: Pick<UsersApi, 'find' | 'get'>;
  readonly mailer: AccountMailer;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  readonly siteUrl: () => string;
}

/** Links to choose a password, sent by mail. */
export interface PasswordMails {
  /**
   * Counts a request for a reset link.
   *
   * @throws RestError 429 `too_many_reset_requests` after 20 requests per 15 minutes and address.
   */
  countRequest(ip: string): Promise<void>;
  /**
   * Sends a reset link if an account has this user name or email address, at most 3 per hour and account. Returns before the
   * account is looked up: call it after the response was sent, so that neither the response nor its time reveals whether the
   * account exists.
   */
  startReset(loginOrEmail: string): void;
  /** Sends a link with which a new user chooses the password. It replaces the previous invitation. */
  invite(user: User): Promise<void>;
  /** Redeems a link, see `PasswordLinks`. */
  choose(token: string, password: string): ReturnType<PasswordLinks['redeem']>;
  /** Waits for the requests in progress. */
  settled(): Promise<void>;
}

const maxPerAccount = 3;
const maxPerAddress = 20;

export function createPasswordMails(dependencies: PasswordMailsDependencies): PasswordMails {
  const { database, links, users, mailer, hooks, log, siteUrl } = dependencies;
  const inFlight = new Set<Promise<void>>();

  async function sendLink(user: User, kind: PasswordLinkKind): Promise<void> {
    const { token, expiresAt } = await links.create(user.id, kind);
    const data = {
      url: `${siteUrl()}/admin/set-password?token=${token}`,
      lifetime: linkLifetimes[kind],
    };
    const template = kind === 'reset' ? 'reset-password' : 'invitation';
    await mailer.queue({ to: user, template, data }, { expiresAt });
  }

  /** The lock makes parallel requests count each other. */
  const sendReset = (loginOrEmail: string): Promise<void> =>
    database.transaction(async () => {
      const user = await users.find(loginOrEmail);
      if (user === null) return;
      await database.lock(`password_reset ${user.id}`);
      if ((await links.countResets(user.id)) >= maxPerAccount) {
        log.warn('Too many reset links for an account', { event: 'password_reset_throttled', user: user.id });
        return;
      }
      await sendLink(user, 'reset');
      log.info('Password reset requested', { event: 'password_reset_requested', user: user.id });
      await hooks.doActionAsync('retrieve_password', user.login);
    });

  return {
    countRequest: (ip) => countRequest(dependencies, ip),
    startReset(loginOrEmail) {
      const work = sendReset(loginOrEmail)
        .catch((error: unknown) => log.error('Password reset failed', { event: 'password_reset_failed', error }))
        .finally(() => inFlight.delete(work));
      inFlight.add(work);
    },
    async invite(user) {
      await database.transaction(() => sendLink(user, 'invitation'));
      log.info('Invitation sent', { event: 'invitation_sent', user: user.id });
    },
    async choose(token, password) {
      const link = await links.redeem(token, password);
      if (link === null) return null;
      log.info('Password chosen by a link', { event: 'password_reset', user: link.user.id, kind: link.kind });
      await hooks.doActionAsync('after_password_reset', link.user);
      return link;
    },
    async settled() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

async function countRequest(
  { database, clock }: Pick<PasswordMailsDependencies, 'database' | 'clock'>,
  ip: string,
): Promise<void> {
  const now = clock.now();
  const subject = createHash('sha256')
    .update(`password reset ${clientNetwork(ip)}`)
    .digest('base64url');
  const { tries, expiresAt } = await count(database.knex, subject, now);
  if (tries <= maxPerAddress) return;
  const wait = expiresAt - now;
  const message = `Too many requests. Try again ${formatRetryTime(wait)}.`;
  throw limitReached({ code: 'too_many_reset_requests', message, wait });
}
