import type { Undo } from './undo.ts';

export interface SiteApi {
  /** URL of the site without a trailing slash: `SITE_URL`, else `http://HOST:PORT`. */
  readonly url: string;
  /** Role of this node (`ROLE`): `web` nodes serve requests and leave background work to others. */
  readonly role: 'all' | 'web' | 'worker';
  /** Version of the host. */
  readonly version: string;
  /** Absolute path of `DATA_DIR`, whose files only this node may see; null for a site in memory. */
  readonly dataDir: string | null;
  /** A random UUID that no other site has. It is made at the first start and kept in backups, so a restored site has it again. */
  id(): Promise<string>;
  /** The option `blogname`. */
  name(): Promise<string>;
  /** The option `timezone_string` (IANA name), UTC when empty. */
  timezone(): Promise<string>;
}

/** A public page provided by a plugin. Visitors need not sign in. */
export interface PublicPage {
  /**
   * Path without leading or trailing slashes: lower-case letters, digits, `-`, and `/` between parts. It takes precedence over
   * posts and pages.
   */
  readonly path: string;
  /** Plain text, for the window title. */
  readonly title: string;
  readonly description?: string;
  /** Template and its data; the theme adds its layout. */
  readonly render: (request: {
    readonly query: Readonly<Record<string, unknown>>;
  }) => Promise<{ readonly template: string; readonly data?: Readonly<Record<string, unknown>> }>;
  /** Files from the plugin's assets to load on this page. */
  readonly style?: string;
  readonly script?: string;
}

/** Adds pages to the public site. */
export interface PublicPagesApi {
  /** Throws an Error when the path is in use or invalid. */
  addPage(page: PublicPage): Undo;
}
