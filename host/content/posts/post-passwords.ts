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
  /**
   * `Set-Cookie` for a browser that knows the password. It opens this post for 10 days, and unlike in WordPress no other: the author of
   * one could try passwords of others with it, uncounted.
   */
  cookie(post: Pick<Post, 'id' | 'password'>): string;
  /** Whether the `Cookie` header opens the post. Always true for a post without password. */
  isUnlocked(post: Pick<Post, 'id' | 'password'>, cookies: string | undefined): boolean;
}

const cookieName = (id: number): string => `wp-postpass_${String(id)}`;
/** Seconds. */
const lifetime = 10 * 24 * 3600;

export function createPostPasswords(given: PostPasswordsDependencies): PostPasswords {
  const { key, clock, limiter, readCookie, siteUrl } = given;
  const sign = ({ id, password }: Pick<Post, 'id' | 'password'>, expires: number): string =>
    createHmac('sha256', key())
      .update(JSON.stringify([expires, id, password]))
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
    cookie(post) {
      const expires = now() + lifetime;
      const secure = siteUrl().startsWith('https:') ? '; Secure' : '';
      const value = `${String(expires)}.${sign(post, expires)}`;
      return `${cookieName(post.id)}=${value}; Path=/; Max-Age=${String(lifetime)}; HttpOnly; SameSite=Lax${secure}`;
    },
    isUnlocked(post, cookies) {
      if (post.password === '') return true;
      const [, expires = '', signature = ''] =
        /^(\d{1,12})\.([\w-]{43})$/.exec(readCookie(cookies, cookieName(post.id)) ?? '') ?? [];
      return expires !== '' && Number(expires) > now() && isSameSecret(signature, sign(post, Number(expires)));
    },
  };
}
