import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HooksApi, Logger, Media, OptionsApi, Post, PostQuery, SiteApi, User, UsersApi } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import type { PostPasswords } from '../posts/post-passwords.ts';

/** The content of a public page, without the layout. */
export interface SitePage {
  /** Plain text for the document title. */
  readonly title: string;
  /** For example `site/single`. */
  readonly template: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Type of the page for the body classes: `home`, `single`, `page`, `search`, `archive`, `author`, `error404`. */
  readonly kind?: string;
  /** The post that the page shows. */
  readonly post?: Post;
  /** Canonical URL. */
  readonly canonical?: string;
  readonly description?: string;
  /** Excludes the page from search engines. */
  readonly isHidden?: boolean;
  /** URLs of a style sheet and a script for the page. */
  readonly style?: string;
  readonly script?: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /**
     * HTML for the head of every public page. The content security policy allows files of this site only, and of scripts those
     * that plugins add here, in `wp_footer`, in shortcodes and in templates.
     */
    wp_head: (html: string, page: SitePage) => string;
    /** HTML at the end of every public page. */
    wp_footer: (html: string, page: SitePage) => string;
    /** Classes of the element `body` of a public page. */
    body_class: (classes: readonly string[], page: SitePage) => readonly string[];
    /** Classes of the element of a post on public pages. */
    post_class: (classes: readonly string[], post: Post) => readonly string[];
    /** Attributes of the element `img` of a featured image on public pages, besides its URL, size and alternative text. */
    wp_get_attachment_image_attributes: (
      attributes: Readonly<Record<string, string>>,
      image: Media,
    ) => Readonly<Record<string, string>>;
    /** The document title without the site name. */
    document_title: (title: string, page: SitePage) => string;
    /** The template to render. */
    template_include: (template: string, page: SitePage) => string;
    /** The query of a post list: home, search, archive or feed. */
    pre_get_posts: (query: PostQuery, kind: string) => PostQuery;
    /** Entries of the site menu. Default: the top-level pages. */
    site_navigation: (entries: readonly NavigationEntry[]) => readonly NavigationEntry[];
  }
}

export interface NavigationEntry {
  /** HTML. */
  readonly label: string;
  readonly href: string;
}

/** Of a query with text that cannot be stored (D54), for example `/?s=%00`. */
export const unreadableQuery = (): Error => Object.assign(new Error('Query with unreadable text.'), { status: 400 });

export interface PublicSiteDependencies {
  readonly parts: ContentParts;
  readonly hooks: HooksApi;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly users: Pick<UsersApi, 'get'>;
  readonly site: SiteApi & { description(): Promise<string> };
  readonly views: { safe(html: string): unknown };
  /** Renders a page in the layout. */
  readonly renderPage: (page: SitePage) => Promise<string>;
  /** The session of the request's cookie, or null. */
  readonly authenticate: (request: IncomingMessage) => Promise<SiteSession | null>;
  readonly anonymous: User;
  readonly passwords: PostPasswords;
  readonly nonces: {
    create(action: string, user: User, sessionId: string): string;
    verify(check: SiteSession & { readonly nonce: string; readonly action: string }): unknown;
  };
  readonly avatarUrl: (user: Pick<User, 'login' | 'displayName'>, size: number) => string;
  /** Counts a comment of an address. @throws RestError 429 `comment_flood`. */
  readonly countComment: (ip: string) => Promise<void>;
  /** Reads a small form. Null: it is too large. */
  readonly readBody: (
    request: IncomingMessage,
    response: ServerResponse,
    limits: { readonly limit: number; readonly isAnonymous: boolean },
  ) => Promise<Uint8Array | null>;
  readonly log: Logger;
}

/** `sessionId` is empty for visitors. */
export interface SiteSession {
  readonly user: User;
  readonly sessionId: string;
}

export type SiteResponse =
  | { readonly kind: 'page'; readonly page: SitePage; readonly isPersonal?: boolean }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'feed'; readonly xml: string };

/** A form of a visitor that was sent to the site. */
export interface SentForm {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly visit: SiteVisit;
}

/** The response to a sent form; null: not found. */
export type FormAnswer =
  | { readonly kind: 'accepted'; readonly to: string; readonly cookie?: string }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly page: SiteResponse;
    };

export interface SiteVisit {
  readonly url: URL;
  /** Decoded parts of the path. */
  readonly parts: readonly string[];
  /** The header `Cookie`. */
  readonly cookies: string | undefined;
  /** Address of the caller. */
  readonly ip: string;
  /** Loaded on first use: most pages are the same for all users. */
  readonly session: () => Promise<SiteSession>;
}
