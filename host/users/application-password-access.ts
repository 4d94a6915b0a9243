import ipaddr from 'ipaddr.js';
import { restError, type RestError, type HooksApi, type User } from '#plugin-api';

declare module '#plugin-api' {
  interface FilterMap {
    /**
     * Whether application passwords are available: in a request that uses one, by default with https or from this machine;
     * true where they are created, listed and revoked. With false these routes and pages respond 501.
     */
    wp_is_application_passwords_available: (isAvailable: boolean) => boolean;
    /** The same for one user, who uses them or whose they are. Default true. */
    wp_is_application_passwords_available_for_user: (isAvailable: boolean, user: User) => boolean;
  }
}

/** Whether plugins let application passwords be used and managed. Both filters run for each question. */
export interface ApplicationPasswordAccess {
  /** Null, or the error of a request that would use one. @param ip of the caller; empty inside the process. */
  useError(ip: string): Promise<RestError | null>;
  /**
   * Null, or the error of who would create, list or revoke them, and of a right password.
   *
   * @param user whose they are; default: only whether there are any.
   */
  managementError(user?: User): Promise<RestError | null>;
}

export function createApplicationPasswordAccess({
  hooks,
  siteUrl,
}: {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly siteUrl: () => string;
}): ApplicationPasswordAccess {
  return {
    async useError(ip) {
      const isSafe = siteUrl().startsWith('https:') || isLoopback(ip);
      if (await hooks.applyFiltersAsync('wp_is_application_passwords_available', isSafe)) return null;
      return restError(
        401,
        'application_passwords_disabled',
        isSafe
          ? 'Application passwords are not available.'
          : 'Application passwords are accepted over https only. Set SITE_URL to the https address of the site.',
      );
    },
    async managementError(user) {
      if (!(await hooks.applyFiltersAsync('wp_is_application_passwords_available', true)))
        return restError(501, 'application_passwords_disabled', 'Application passwords are not available.');
      if (
        user === undefined ||
        (await hooks.applyFiltersAsync('wp_is_application_passwords_available_for_user', true, user))
      )
        return null;
      return restError(
        501,
        'application_passwords_disabled_for_user',
        'Application passwords are not available for your account. Please contact the site administrator for assistance.',
      );
    },
  };
}

/** A call within the process has no address. */
function isLoopback(ip: string): boolean {
  return ip === '' || (ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback');
}
