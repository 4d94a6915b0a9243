import { createHmac } from 'node:crypto';
import { isSameSecret, type Clock, type Post } from '#plugin-api';

/** The part of the sign-in limiter that counts guesses of post passwords. */
export interface GuessLimiter {
  /** @throws RestError 429. */
  spend(attempt: PasswordGuess): Promise<unknown>;
  reset(attempt: PasswordGuess): Promise<void>;
}

interface PasswordGuess {
  readonly secret: 'post';
  readonly account: number;
  readonly ip: string;
}

export interface PostPasswordsDependencies {
  /** Signs the cookies. */
  readonly key: () => Uint8Array;
  readonly clock: Pick<Clock, 'now'>;
  readonly limiter: GuessLimiter;
  /** Value of a cookie in a `Cookie` header, or null. */
  readonly readCookie: (header: string | undefined, name: string) => string | null;
  /** Cookies are `Secure` if it starts with https. */
  readonly siteUrl: () => string;
}

/** Passwords of single posts. A caller who knows one reads the post: on pages with a cookie, in REST with a parameter. */
export interface PostPasswords {
  /**
   * Compares in constant time. Counts the guess before, over all nodes.
   *
   * @param ip of the caller. @throws RestError 429 `too_many_login_attempts` with `Retry-After`.
   */
  check(post: Pick<Post, 'id' | 'password'>, password: string, ip: string): Promise<boolean>;
  /** `Set-Cookie` for a browser that knows the password. As in WordPress, it opens all posts with this password for 10 days. */
  cookie(password: string): string;
  /** Whether the `Cookie` header opens the post. Always true for a post without password. */
  isUnlocked(post: Pick<Post, 'password'>, cookies: string | undefined): boolean;
}

const cookieName = 'wp-postpass';
/** Seconds. */
const lifetime = 10 * 24 * 3600;

export function createPostPasswords(given: PostPasswordsDependencies): PostPasswords {
  const { key, clock, limiter, readCookie, siteUrl } = given;
  const sign = (password: string, expires: number): string =>
    createHmac('sha256', key())
      .update(JSON.stringify([expires, password]))
      .digest('base64url');
  const now = (): number => Math.floor(clock.now() / 1000);
  return {
    async check({ id, password: expected }, password, ip) {
      if (expected === '') return false;
      const guess = { secret: 'post', account: id, ip } as const;
      await limiter.spend(guess);
      if (!isSameSecret(password, expected)) return false;
      await limiter.reset(guess);
      return true;
    },
    cookie(password) {
      const expires = now() + lifetime;
      const secure = siteUrl().startsWith('https:') ? '; Secure' : '';
      const value = `${String(expires)}.${sign(password, expires)}`;
      return `${cookieName}=${value}; Path=/; Max-Age=${String(lifetime)}; HttpOnly; SameSite=Lax${secure}`;
    },
    isUnlocked({ password }, cookies) {
      if (password === '') return true;
      const [, expires = '', signature = ''] =
        /^(\d{1,12})\.([\w-]{43})$/.exec(readCookie(cookies, cookieName) ?? '') ?? [];
      return expires !== '' && Number(expires) > now() && isSameSecret(signature, sign(password, Number(expires)));
    },
  };
}
