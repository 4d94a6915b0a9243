import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Clock, HealthResult, HooksApi, Language, Logger, SiteApi, User } from '#plugin-api';
import type { ErrorResponses } from './error-responses.ts';
import type { FlashNotices } from './notices.ts';
import type { AdminRegistry } from './registry.ts';
import type { SavedViews } from './saved-views.ts';
import type { Shell } from './shell.ts';

export interface SignedIn {
  readonly user: User;
  /** Identifies the session in nonces. It is not the token of the cookie. */
  readonly sessionId: string;
  /** When the user last proved who they are, in milliseconds since the epoch; 0: unknown. */
  readonly authenticatedAt: number;
}

/** A new session with its `Set-Cookie` value. */
export interface OpenedSession extends SignedIn {
  readonly cookie: string;
}

/** The result of a right password. */
export interface LoginResult {
  readonly user: User;
  /** Null: a second step is needed, which the cookie continues. */
  readonly sessionId: string | null;
  /** Value of `Set-Cookie`. */
  readonly cookie: string;
}

/** The caller as recorded at sign-in. */
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
  /** Whether this is the one-time token that was printed at start. Compares in constant time. */
  accepts(token: string): boolean | Promise<boolean>;
  /** Creates the administrator and invalidates the token. Only one of several parallel callers succeeds. Throws RestError. */
  complete(input: SetupInput): Promise<User>;
}

/** Links to choose a password (see the host's users). */
export interface AdminPasswords {
  /** Whether links can be sent by mail. */
  isMailAvailable(): Promise<boolean>;
  /** How to reach an administrator; empty if nothing is set. */
  contact(): Promise<string>;
  /** @throws RestError 429 after too many requests from an address. */
  countRequest(ip: string): Promise<void>;
  /** Sends a link in the background if the account exists. Call it after the response was sent. */
  startReset(loginOrEmail: string): void;
  /** Null: the link is void. */
  find(token: string): Promise<{ readonly user: User; readonly kind: 'reset' | 'invitation' } | null>;
  /** Sets the password and voids the link. Null: it was void. @throws RestError 400 for an invalid password. */
  choose(token: string, password: string, options: { readonly revokesCredentials: boolean }): Promise<unknown>;
  /** What lets programs act for a user. */
  credentialsOf(userId: number): Promise<readonly { readonly kind: string; readonly name: string }[]>;
}

export interface PluginSummary {
  readonly slug: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly state: 'active' | 'inactive' | 'failed';
  /** Why it failed, and at which stage (import, register, activate, ...). */
  readonly failure?: {
    readonly stage: string;
    readonly message: string;
    /** Milliseconds since the epoch, or ISO text. */
    readonly at?: number | string;
  } | null;
  /** One sentence each. */
  readonly warnings?: readonly string[];
  /** The last error of a running plugin in an action, a route or a job. */
  readonly lastError?: { readonly stage: string; readonly message: string; readonly at?: number | string } | null;
  /** Always active. */
  readonly mustUse?: boolean;
  /** Shipped with the host: uninstalling keeps its folder. */
  readonly shipped?: boolean;
  /** Required plugins: version ranges by slug. */
  readonly requires: Readonly<Record<string, string>>;
}

export interface AdminPlugins {
  list(): readonly PluginSummary[] | Promise<readonly PluginSummary[]>;
  /** @throws Error or RestError whose message is shown. */
  activate(slug: string): Promise<unknown>;
  deactivate(slug: string): Promise<unknown>;
  uninstall(
    slug: string,
    init?: { readonly deleteFiles?: boolean },
  ): Promise<{ readonly folderRemoved: boolean; readonly remainingMigrations: readonly string[] }>;
  /** @param installation.path absolute path of a zip file. */
  install(installation: { readonly path: string; readonly activate: boolean }): Promise<{
    readonly name: string;
    readonly version: string;
    readonly replaced: string | null;
    readonly activated: boolean;
  }>;
  health(slug: string): Promise<readonly { readonly results: readonly HealthResult[] }[]>;
}

/** Who hid the first steps on their home page. */
export interface HiddenSteps {
  has(userId: number): Promise<boolean>;
  /** Applies to all browsers of the user, on every node within a second. */
  set(userId: number, isHidden: boolean): Promise<unknown>;
}

/** As in WordPress: 1 for a nonce in the first half of its lifetime, 2 in the second. */
export type NonceVerdict = boolean | 1 | 2;

export interface AdminNonces {
  create(action: string, user: User, sessionId: string): string | Promise<string>;
  /** Returns a truthy value for a valid nonce. */
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

/** What a browser passes to its authenticators, and the signed challenge that it sends back with their response. */
export interface PasskeyRequest {
  readonly options: unknown;
  readonly challenge: string;
}

/** The response of an authenticator as JSON text, with the signed challenge of its request. */
export interface PasskeyResponse {
  readonly credential: string;
  readonly challenge: string;
}

/** The second step of sign-in, and sign-in with a passkey alone. Methods that sign in return null for a wrong code or passkey. */
export interface AdminSecondStep {
  /** The second step that the request's cookie continues; null: none, or it has expired. */
  find(
    request: IncomingMessage,
  ): Promise<{ readonly login: string; readonly hasApp: boolean; readonly hasPasskey: boolean } | null>;
  /** @throws RestError 401 `sign_in_expired`, 429. */
  enterCode(request: IncomingMessage, init: { readonly code: string } & Visitor): Promise<OpenedSession | null>;
  /** @throws RestError 401 `sign_in_expired`, 429. */
  enterPasskey(request: IncomingMessage, init: PasskeyResponse & Visitor): Promise<OpenedSession | null>;
  /** @throws RestError 401 `sign_in_expired`. */
  requestPasskey(request: IncomingMessage): Promise<PasskeyRequest>;
  offersPasskeys(): boolean;
  requestPasskeySignIn(): Promise<PasskeyRequest>;
  /** @throws RestError 429. */
  signInWithPasskey(init: PasskeyResponse & { readonly remember: boolean } & Visitor): Promise<OpenedSession | null>;
  /** Whether the user can confirm with a passkey, at the address of the site. */
  canConfirm(userId: number): Promise<boolean>;
  /** A challenge with which the user of a session confirms who they are. */
  requestConfirmation(session: SignedIn): Promise<PasskeyRequest>;
  /** Makes the sign-in of a session fresh if the passkey is right. @throws RestError 429. */
  confirm(session: SignedIn, init: PasskeyResponse & Pick<Visitor, 'ip'>): Promise<boolean>;
  /** Value of `Set-Cookie` that forgets the second step. */
  clearingCookie(): string;
}

/** Everything that the admin needs from the rest of the host. The composition root provides it. */
export interface AdminDependencies {
  /** The language that a user chose (a locale; empty: none), else of the site. Default: English. */
  language?(locale?: string): Language | undefined;
  /** The locales with translations, such as `pt_BR`, and `en`. */
  locales?(): readonly string[];
  readonly views: AdminViews;
  /** Path of an asset with its content hash. */
  readonly assetUrl: (slug: string, file: string) => string;
  /** The session of the request's cookie, or null. */
  readonly authenticate: (request: IncomingMessage) => Promise<SignedIn | null>;
  /** The session of a user who must set up two-step sign-in before anything else; null for all others. */
  readonly limitedSession: (
    request: IncomingMessage,
  ) => Promise<(SignedIn & { readonly mayDeactivate: boolean }) | null>;
  readonly secondStep: AdminSecondStep;
  /**
   * The body of a request within `limit` bytes; null above it. Throws RestError to refuse, and another error when the caller
   * hangs up.
   */
  readonly readBody: (
    request: IncomingMessage,
    response: ServerResponse,
    limits: { readonly limit: number; readonly isAnonymous: boolean },
  ) => Promise<Buffer | null>;
  /** Null: unknown user or wrong password. @throws RestError 429 after too many attempts. */
  readonly login: (
    input: { readonly login: string; readonly password: string; readonly remember: boolean } & Visitor,
  ) => Promise<LoginResult | null>;
  /** Opens a session without a password, for the administrator that setup has just created. */
  readonly openSession: (user: User, visitor: Visitor) => Promise<OpenedSession>;
  /** Whether the user of the session proved who they are in the last ten minutes. */
  readonly isFresh: (session: SignedIn) => boolean;
  /** Verifies the password of the user; a right one makes the sign-in fresh. @throws RestError 429 after too many attempts. */
  readonly confirmPassword: (session: SignedIn, password: string, ip: string) => Promise<boolean>;
  /** Ends the session on all nodes. Returns the `Set-Cookie` value that clears the cookie. */
  readonly logout: (session: SignedIn) => Promise<{ readonly cookie: string }>;
  readonly nonces: AdminNonces;
  readonly setup: AdminSetup;
  readonly passwords: AdminPasswords;
  readonly plugins: AdminPlugins;
  readonly hiddenSteps: HiddenSteps;
  readonly savedViews: SavedViews;
  /** Absolute path of the folder for uploaded files while an action runs. Default: the temporary folder of the system. */
  readonly uploadsDir?: string;
  readonly site: SiteApi;
  /** Absolute URL of the REST root. */
  readonly restUrl: () => string;
  /** For the filters `admin_next_steps` and `admin_recent_failures`. */
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Dependencies of all admin routes. */
export interface AdminContext extends AdminDependencies {
  readonly registry: AdminRegistry;
  readonly shell: Shell;
  readonly flash: FlashNotices;
  readonly errorResponses: ErrorResponses;
}
