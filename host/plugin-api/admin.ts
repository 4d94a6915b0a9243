import type { RestRequest } from './rest.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

export type AdminRequest = Pick<RestRequest, 'query' | 'headers' | 'signal' | 'log' | 'id' | 'ip'> & {
  readonly user: User;
  /** Fields of the posted form (`a[b]` and `a[]` nested as PHP does); empty for GET. */
  readonly form: Readonly<Record<string, unknown>>;
  /** Files of a multipart form by field name, on pages with an `uploadLimit`. */
  readonly files?: Readonly<Record<string, UploadedFile>>;
  /** Whether `requireFreshSignIn` would pass now. */
  readonly isSignInFresh: boolean;
  /**
   * Requires that the user signed in, or confirmed the password, in the last ten minutes: call it in actions that change
   * passwords, secrets or code, before any change. Throws RestError 403 `fresh_sign_in_required` otherwise. The admin then
   * asks for the password and runs the action again with the same form, so nothing typed is lost.
   */
  requireFreshSignIn(): void;
};

/** An uploaded file. It is deleted after the action returns: move or copy it to keep it. */
export interface UploadedFile {
  /** Name sent by the browser. Do not use it as a path. */
  readonly name: string;
  /** Content type sent by the browser. Do not trust it. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Absolute path of the temporary copy. */
  readonly path: string;
}

export interface AdminDownload {
  /** File name for the browser. */
  readonly name: string;
  /** Content type, for example `text/csv; charset=utf-8`. */
  readonly type: string;
  /**
   * Read only as fast as the browser receives it, and ended when the browser disconnects. An error cuts the connection, so
   * that an incomplete file never looks complete.
   */
  readonly content: AsyncIterable<string | Uint8Array>;
}

/**
 * Result of an action. Without JavaScript the browser returns to the page with the notice; with it the object is sent as
 * JSON.
 */
export interface AdminActionResult {
  readonly notice?: {
    readonly kind: 'success' | 'error' | 'warning' | 'info';
    readonly text: string;
    /** A button "Undo": an action of the page that the browser returns to, with the fields of its form. */
    readonly undo?: { readonly action: string; readonly fields: Readonly<Record<string, string>> };
  };
  /** Shown once on the next page and not stored: for a key that is displayed only once. */
  readonly reveal?: { readonly label: string; readonly value: string };
  /**
   * Without JavaScript, render this page in the shell, never cached, instead of returning to the page: for a form with its
   * values and field errors, and for values that are shown only once.
   */
  readonly page?: AdminView;
  /** Stream this file instead of a page. Its form needs the attribute `data-download`, so that it can be submitted again. */
  readonly download?: AdminDownload;
  /** Response data for callers with JavaScript. */
  readonly data?: unknown;
  /** The action changed nothing: what a page asks again and again, or a preview. The security log has no entry of it. */
  readonly readOnly?: true;
  /** Path below the admin root to redirect to; default: the page itself. */
  readonly redirect?: string;
  /** HTTP status for callers with JavaScript. Default 200, or 400 with an error notice. */
  readonly status?: number;
}

/** What the host needs before a page is opened: its path, menu position and capability. */
export interface AdminPageDeclaration {
  /** Path below the admin root, for example `svc` or `svc/webhooks`. */
  readonly slug: string;
  readonly title: string;
  /** Menu label; without it the page is not in the menu. */
  readonly menu?: string;
  /** Slug of the page above it: in the breadcrumbs, for the marked menu entry, and for the group unless `group` is set. */
  readonly parent?: string;
  /** Id of the menu group: `content`, `developers`, `people`, `system` or one from `addMenuGroup`. Default: that of `parent`. */
  readonly group?: string;
  /**
   * Icon from the admin's sprite: home, puzzle, key, gear, bolt, users, clock, list, chat, image, database, flask. Or one of
   * the plugin: `shop/icons.svg#cart` is the symbol with the id `cart` in `assets/icons.svg` of the plugin `shop`.
   */
  readonly icon?: string;
  /** Lower numbers come first; default 50. */
  readonly position?: number;
  /** Required for the page and all its actions. Default `manage_options`. */
  readonly capability?: string;
  /** Takes forms with files (`enctype="multipart/form-data"`), with this maximum file size in bytes. Default: no files. */
  readonly uploadLimit?: number;
  /** Script from the plugin's assets to load on this page, for example `settings.js`. */
  readonly script?: string;
  readonly style?: string;
}

/** What a page shows. */
export interface AdminView {
  readonly template: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** Heading and browser title, for example the name of the shown object. Default: the title of the page. */
  readonly title?: string;
  /** Breadcrumbs between the page above and the title, such as the object that a shown part belongs to. */
  readonly trail?: readonly { readonly title: string; readonly href: string }[];
}

/** Content and actions of a page. */
export interface AdminPageBody {
  /** The host adds the shell (menu, breadcrumbs, title, notices, nonce). */
  readonly render: (request: AdminRequest) => Promise<AdminView>;
  /** POST targets by name. Session, capability and CSRF nonce are checked first. A thrown RestError becomes an error notice. */
  readonly actions?: Readonly<Record<string, (request: AdminRequest) => Promise<AdminActionResult>>>;
}

export interface AdminPage extends AdminPageDeclaration, AdminPageBody {}

/** A page whose code loads on first use, so that unused pages do not slow the start. */
export interface LazyAdminPage extends AdminPageDeclaration {
  /**
   * Called once, on the first permitted request: `async () => (await import('./report.page.ts')).reportPage(host)`. After an
   * error the next request calls it again.
   */
  readonly body: () => Promise<AdminPageBody>;
}

/** A heading of the menu that opens to show its pages. */
export interface AdminMenuGroup {
  readonly id: string;
  readonly title: string;
  readonly icon: string;
  /** Lower numbers come first; default 50. The host uses 10 (content), 50 (developers), 70 (people) and 80 (system). */
  readonly position?: number;
}

export interface AdminBadge {
  /** Short text shown in the admin bar on every page. */
  readonly text: string;
  readonly kind: 'info' | 'warning';
  readonly href?: string;
  readonly title?: string;
}

/** A sentence above the content of admin pages, for as long as its reason lasts. */
export interface AdminNotice {
  readonly kind: 'success' | 'error' | 'warning' | 'info';
  /** Plain text. */
  readonly text: string;
  /** Slug of an admin page with an optional query, or an absolute URL. */
  readonly href?: string;
  /** Text of the link: what to do, such as `Enter a key`. Default: `Show`. */
  readonly label?: string;
}

export interface AdminNoticeDefinition {
  /** Who sees it. Default `manage_options`. */
  readonly capability?: string;
  /** Slugs of the pages that show it. Default: all pages. */
  readonly pages?: readonly string[];
  /** Called for each page, so it must be quick; null shows nothing. */
  readonly show: (context: { readonly user: User; readonly page: string }) => Promise<AdminNotice | null>;
}

/** A choice in the last step of the first-run setup, for example "sandbox" or "my provider". */
export interface SetupChoice {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Called each time the choices are shown; false hides the choice. Default: always shown. */
  readonly available?: () => Promise<boolean>;
  /** Runs when chosen. Returns the template of the final page and its data, or a redirect. */
  readonly choose: (
    request: AdminRequest,
  ) => Promise<
    { readonly template: string; readonly data?: Readonly<Record<string, unknown>> } | { readonly redirect: string }
  >;
  /** Lower numbers come first. */
  readonly position?: number;
}

export interface AdminApi {
  addPage(page: AdminPage | LazyAdminPage): Undo;
  /** A group is shown when it has pages that the user may open. */
  addMenuGroup(group: AdminMenuGroup): Undo;
  /** Called for each page; null shows no badge. */
  addBadge(badge: () => Promise<AdminBadge | null>): Undo;
  /** Like `admin_notices` of WordPress. A notice that throws is logged and left out. */
  addNotice(notice: AdminNoticeDefinition): Undo;
  addSetupChoice(choice: SetupChoice): Undo;
  /** Absolute URL of an admin page: `url('svc')`. */
  url(slug?: string): string;
}
