export interface SiteApi {
  /** Address of the site without a slash at its end: `SITE_URL`, else `http://HOST:PORT`. */
  readonly url: string;
  /** What this node does (`ROLE`): `web` nodes take requests and leave work in the background to the others. */
  readonly role: 'all' | 'web' | 'worker';
  /** Version of the host. */
  readonly version: string;
  /** The option `blogname`. */
  name(): Promise<string>;
  /** The option `timezone_string` (IANA name), UTC when empty. */
  timezone(): Promise<string>;
}
