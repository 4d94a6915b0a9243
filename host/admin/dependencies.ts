import type { IncomingMessage } from 'node:http';

import type { Clock, HealthResult, HooksApi, Logger, SiteApi, User } from '#plugin-api';

export interface SignedIn {
  readonly user: User;
  /** Names the session in nonces; not the cookie's token. */
  readonly sessionId: string;
}

/** A session that was just opened, with the `Set-Cookie` value that hands it to the browser. */
export interface OpenedSession extends SignedIn {
  readonly cookie: string;
}

/** Who is calling, as sign-in records it. */
export interface Visitor {
  readonly ip: string;
  readonly userAgent: string;
}

export interface SetupInput {
  readonly token: string;
  readonly siteName: string;
  readonly login: string;
  readonly email: string;
  readonly password: string;
}

export interface AdminSetup {
  /** Whether the site has no administrator yet. */
  needed(): Promise<boolean>;
  /** Whether the one-time token is the one that was printed at start, compared in constant time. */
  accepts(token: string): boolean | Promise<boolean>;
  /** Creates the administrator and spends the token; of parallel callers one wins. Throws RestError, fields in `data.params`. */
  complete(input: SetupInput): Promise<User>;
}

export interface PluginSummary {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly state: 'active' | 'inactive' | 'failed';
  /** Why it failed: at which stage (import, register, activate, ...), in its own words. */
  readonly failure?: {
    readonly stage: string;
    readonly message: string;
    /** Milliseconds since the epoch, or ISO text. */ readonly at?: number | string;
  } | null;
  /** The last error of a plugin that runs on all the same, in an action, a route or a job. */
  readonly lastError?: { readonly stage: string; readonly message: string; readonly at?: number | string } | null;
  /** Always active. */
  readonly mustUse?: boolean;
  /** Comes with the host: its folder stays when it is uninstalled. */
  readonly shipped?: boolean;
  /** Slugs it needs, with ranges of their versions. */
  readonly requires: Readonly<Record<string, string>>;
}

export interface AdminPlugins {
  list(): readonly PluginSummary[] | Promise<readonly PluginSummary[]>;
  /** Throws an Error or RestError whose sentence is shown. */
  activate(slug: string): Promise<unknown>;
  deactivate(slug: string): Promise<unknown>;
  /** Answers whether the folder was removed, too. */
  uninstall(slug: string): Promise<boolean>;
  /** @param installation.path absolute path of a zip. */
  install(installation: { readonly path: string; readonly activate: boolean }): Promise<{
    readonly name: string;
    readonly version: string;
    readonly replaced: string | null;
    readonly activated: boolean;
  }>;
  health(slug: string): Promise<readonly { readonly results: readonly HealthResult[] }[]>;
}

/** As WordPress: 1 for a nonce in the first half of its life, 2 in the second. */
export type NonceVerdict = boolean | 1 | 2;

export interface AdminNonces {
  create(action: string, user: User, sessionId: string): string | Promise<string>;
  /** Answers something true when the nonce is good. */
  verify(input: {
    readonly nonce: string;
    readonly action: string;
    readonly user: User;
    readonly sessionId: string;
  }): NonceVerdict | Promise<NonceVerdict>;
}

export interface AdminViews {
  render(
    template: string,
    data?: Readonly<Record<string, unknown>>,
    frame?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
  safe(html: string): unknown;
}

/** All that the admin needs of the rest of the host; the composition root meets it. */
export interface AdminDependencies {
  readonly views: AdminViews;
  /** Path of an asset with its content hash. */
  readonly assetUrl: (slug: string, file: string) => string;
  /** The session of the request's cookie, or null. */
  readonly authenticate: (request: IncomingMessage) => Promise<SignedIn | null>;
  /** Null: unknown user or wrong password. Throws RestError 429 after too many tries. */
  readonly login: (
    input: { readonly login: string; readonly password: string; readonly remember: boolean } & Visitor,
  ) => Promise<OpenedSession | null>;
  /** Opens a session without a password, for the administrator that setup just made. */
  readonly openSession: (user: User, visitor: Visitor) => Promise<OpenedSession>;
  /** Ends the session on all nodes; answers the `Set-Cookie` value that clears the cookie. */
  readonly logout: (session: SignedIn) => Promise<{ readonly cookie: string }>;
  readonly nonces: AdminNonces;
  readonly setup: AdminSetup;
  readonly plugins: AdminPlugins;
  /** Absolute path of the folder in which files of forms lie for the time of the action. Default: the system's own for such files. */
  readonly uploadsDir?: string;
  readonly site: SiteApi;
  /** Absolute address of the REST root. */
  readonly restUrl: () => string;
  /** For the filters `admin_next_steps` and `admin_recent_failures`. */
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** One line of the dashboard's list of what to do next. */
export interface NextStep {
  readonly text: string;
  /** Slug of an admin page, or an absolute address. */
  readonly href?: string;
  readonly done?: boolean;
}

/** One line of the dashboard's list of what went wrong. */
export interface RecentFailure {
  readonly source: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at?: number;
  readonly href?: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Lines of the dashboard's "Next steps". */
    admin_next_steps: (steps: readonly NextStep[], user: User) => readonly NextStep[];
    /** Lines of the dashboard's "Recent failures", newest first. */
    admin_recent_failures: (failures: readonly RecentFailure[], user: User) => readonly RecentFailure[];
  }
}
