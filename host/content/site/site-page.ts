import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HooksApi, Logger, OptionsApi, Post, PostQuery, SiteApi, User, UsersApi } from '#plugin-api';
import type { ContentParts } from '../content.ts';

/** A page of the public site before the layout is put around it. */
export interface SitePage {
  /** Plain text, for the window. */
  readonly title: string;
  /** For example `site/single`. */
  readonly template: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** What kind of page it is, for the classes of the body: `home`, `single`, `page`, `search`, `archive`, `author`, `error404`. */
  readonly kind?: string;
  /** The post that the page is about. */
  readonly post?: Post;
  /** Absolute address under which it should be known. */
  readonly canonical?: string;
  readonly description?: string;
  /** Keep it out of search engines. */
  readonly isHidden?: boolean;
  /** Addresses of a style sheet and a script to load on it. */
  readonly style?: string;
  readonly script?: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** HTML put into the head of every public page. The content security policy allows the site's own files alone. */
    wp_head: (html: string, page: SitePage) => string;
    /** HTML put at the end of every public page. */
    wp_footer: (html: string, page: SitePage) => string;
    body_class: (classes: readonly string[], page: SitePage) => readonly string[];
    post_class: (classes: readonly string[], post: Post) => readonly string[];
    /** The title of the window, without the site's name. */
    document_title: (title: string, page: SitePage) => string;
    /** Another template in place of the theme's. */
    template_include: (template: string, page: SitePage) => string;
    /** The query of a list of posts: home, search, archive, feed. */
    pre_get_posts: (query: PostQuery, kind: string) => PostQuery;
    /** Entries of the site's menu; default the pages at the top. */
    site_navigation: (entries: readonly NavigationEntry[]) => readonly NavigationEntry[];
  }
}

export interface NavigationEntry {
  /** HTML. */
  readonly label: string;
  readonly href: string;
}

export interface PublicSiteDependencies {
  readonly parts: ContentParts;
  readonly hooks: HooksApi;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly users: Pick<UsersApi, 'get'>;
  readonly site: SiteApi & { description(): Promise<string> };
  readonly views: { safe(html: string): unknown };
  /** Puts the layout around a page. */
  readonly renderPage: (page: SitePage) => Promise<string>;
  /** The user of the request's cookie, or null. */
  readonly authenticate: (request: IncomingMessage) => Promise<{ readonly user: User } | null>;
  readonly anonymous: User;
  readonly log: Logger;
}

/** What a handler of the public site answers; null: there is no such page. */
export type SiteAnswer =
  | { readonly kind: 'page'; readonly page: SitePage; readonly isPersonal?: boolean }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'feed'; readonly xml: string };

export interface SiteVisit {
  readonly url: URL;
  /** Decoded parts of the path. */
  readonly parts: readonly string[];
  /** Asked at first use: most pages are the same for everybody. */
  readonly user: () => Promise<User>;
}

export type PlainHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;
