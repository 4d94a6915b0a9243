import type { RestRequest } from './rest.ts';
import type { Undo } from './undo.ts';
import type { User } from './users.ts';

export type AdminRequest = Pick<RestRequest, 'query' | 'headers' | 'signal' | 'log' | 'id' | 'ip'> & {
  readonly user: User;
  /** Fields of the posted form (`a[b]` and `a[]` nested as PHP does); empty for GET. */
  readonly form: Readonly<Record<string, unknown>>;
  /** Files of a multipart form by name of the field, on pages with an `uploadLimit`. */
  readonly files?: Readonly<Record<string, UploadedFile>>;
};

/** A file that a form brought. It is removed when the action has answered: move or copy what is to stay. */
export interface UploadedFile {
  /** As the browser calls it. Do not use it as a path. */
  readonly name: string;
  /** As the browser says. Do not trust it. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
  /** Absolute path of the passing copy. */
  readonly path: string;
}

export interface AdminDownload {
  /** Under which the browser saves it. */
  readonly name: string;
  /** Content type, for example `text/csv; charset=utf-8`. */
  readonly type: string;
  /** Asked for more only as fast as the browser takes it, and ended when the browser hangs up. An error cuts the connection: a part never passes for the whole. */
  readonly content: AsyncIterable<string | Uint8Array>;
}

/** What an action answers. Without JavaScript the browser is sent back to the page with the notice; with it the object goes out as JSON. */
export interface AdminActionResult {
  readonly notice?: { readonly kind: 'success' | 'error' | 'warning' | 'info'; readonly text: string };
  /** Shown once on the next page and then forgotten: for a key that is displayed a single time. */
  readonly reveal?: { readonly label: string; readonly value: string };
  /**
   * Without JavaScript the answer is this page, in the shell and never cached, in place of the way back to the page:
   * for a form that comes back with its values and a sentence at each bad field, and for what is shown a single time.
   */
  readonly page?: { readonly template: string; readonly data?: Readonly<Record<string, unknown>> };
  /** This file in place of any page, sent while it is made. Its form carries the attribute `data-download`, so that it can be sent again. */
  readonly download?: AdminDownload;
  /** Answer's data for callers with JavaScript. */
  readonly data?: unknown;
  /** Path below the admin root to go to; default: the page itself. */
  readonly redirect?: string;
  /** HTTP status for callers with JavaScript. Default 200, or 400 with an error notice. */
  readonly status?: number;
}

/** What the host must know of a page before anybody opens it: address, place in the menu, who may. */
export interface AdminPageDeclaration {
  /** Path below the admin root, for example `svc` or `svc/webhooks`. */
  readonly slug: string;
  readonly title: string;
  /** Text in the menu; left out: the page is not in the menu. */
  readonly menu?: string;
  /** Slug of the menu entry it stands under. */
  readonly parent?: string;
  /** Name of an icon of the admin's sprite: home, puzzle, key, gear, bolt, users, clock, list, chat, image, database, flask. */
  readonly icon?: string;
  /** Low first; default 50. */
  readonly position?: number;
  /** Needed for the page and all its actions. Default `manage_options`. */
  readonly capability?: string;
  /** Takes forms with files (`enctype="multipart/form-data"`), each file at most so many bytes. Default: none are taken. */
  readonly uploadLimit?: number;
  /** Script of the plugin's assets to load on this page, for example `settings.js`. */
  readonly script?: string;
  readonly style?: string;
}

/** What a page does. */
export interface AdminPageBody {
  /** Template and its data. The shell (menu, notices, nonce) is put around it. */
  readonly render: (
    request: AdminRequest,
  ) => Promise<{ readonly template: string; readonly data?: Readonly<Record<string, unknown>> }>;
  /** POST targets by name. Session, capability and CSRF nonce are checked before. A thrown RestError becomes an error notice. */
  readonly actions?: Readonly<Record<string, (request: AdminRequest) => Promise<AdminActionResult>>>;
}

export interface AdminPage extends AdminPageDeclaration, AdminPageBody {}

/** A page whose code is loaded when it is first opened: a start does not pay for pages that nobody looks at. */
export interface LazyAdminPage extends AdminPageDeclaration {
  /** Asked once, by the first who may open the page: `async () => (await import('./report.page.ts')).reportPage(host)`. After an error it is asked again. */
  readonly body: () => Promise<AdminPageBody>;
}

export interface AdminBadge {
  /** Short text shown in the admin bar on every page. */
  readonly text: string;
  readonly kind: 'info' | 'warning';
  readonly href?: string;
  readonly title?: string;
}

/** One choice of the first-run setup's last step, for example "sandbox" or "my provider". */
export interface SetupChoice {
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Asked each time the choices are shown; false leaves it out. Default: always shown. */
  readonly available?: () => Promise<boolean>;
  /** Runs when chosen; answers the template of the finish page and its data. */
  readonly choose: (
    request: AdminRequest,
  ) => Promise<
    { readonly template: string; readonly data?: Readonly<Record<string, unknown>> } | { readonly redirect: string }
  >;
  /** Low first. */
  readonly position?: number;
}

export interface AdminApi {
  addPage(page: AdminPage | LazyAdminPage): Undo;
  /** Asked at each page; null shows nothing. */
  addBadge(badge: () => Promise<AdminBadge | null>): Undo;
  addSetupChoice(choice: SetupChoice): Undo;
  /** Absolute address of an admin page: `url('svc')`. */
  url(slug?: string): string;
}
