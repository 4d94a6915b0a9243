import type { Undo } from './undo.ts';

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

/** A page of the public site that a plugin answers, for everybody and without signing in. */
export interface PublicPage {
  /** Address below the site without slashes at its ends: lower-case letters, digits, `-`, and `/` between parts. It wins over posts and pages of the content. */
  readonly path: string;
  /** Plain text, for the window. */
  readonly title: string;
  readonly description?: string;
  /** Template and its data; the theme's layout is put around it. */
  readonly render: (request: {
    readonly query: Readonly<Record<string, unknown>>;
  }) => Promise<{ readonly template: string; readonly data?: Readonly<Record<string, unknown>> }>;
  /** Files of the plugin's assets to load on this page. */
  readonly style?: string;
  readonly script?: string;
}

/** Of the public site, what plugins add to it. */
export interface PublicPagesApi {
  /** Throws an Error when the path is taken or not one. */
  addPage(page: PublicPage): Undo;
}
