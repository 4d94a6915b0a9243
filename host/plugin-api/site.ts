export interface SiteApi {
  /** Address of the site without a slash at its end: `SITE_URL`, else `http://HOST:PORT`. */
  readonly url: string;
  /** Version of the host. */
  readonly version: string;
  /** The option `blogname`. */
  name(): Promise<string>;
  /** The option `timezone_string` (IANA name), UTC when empty. */
  timezone(): Promise<string>;
}
