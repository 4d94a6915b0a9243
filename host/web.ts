import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAdmin } from './admin/admin.ts';
import { authorizePath } from './admin/local-path.ts';
import type { AdminPlugins, HiddenSteps } from './admin/dependencies.ts';
import { currentRequest } from '#plugin-api';
import { createUserCredentials } from './users/user-credentials.ts';
import { createSavedViews } from './admin/saved-views.ts';
import { createAllowedOrigins, createAnonymousLimit } from './rest-access.ts';
import { createProtectedResource } from './abilities/mcp/protected-resource.ts';
import { renderSitePage } from './admin/site-layout.ts';
import { createPrivateUploadsHandler, createUploadsHandler } from './content/media/serve-uploads.ts';
import { createLazySite, createLazyTheme } from './content/site/lazy-site.ts';
import type { Core } from './core.ts';
import { createAssets, type Assets } from './http/assets.ts';
import { createPostPasswords, type PostPasswords } from './content/posts/post-passwords.ts';
import { createPublicPages } from './content/site/public-pages.ts';
import { changeOption } from './loader/stored-state.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import type { HttpServer } from './http/server.ts';
import type { ReadinessCheck, ReadinessWarning } from './http/readiness.ts';
import { createBodyBudget } from './rest/body-budget.ts';
import { createBodyReader, type BodyReader } from './rest/body-reader.ts';
import { createRest, type RestDependencies, type RestSite } from './rest/rest.ts';
import {
  createApplicationPasswordAccess,
  type ApplicationPasswordAccess,
} from './users/application-password-access.ts';
import { createAuthentication, sessionCookieName } from './users/authentication.ts';
import { avatarsHandler, createAvatarUrl } from './users/avatars.ts';
import { createTemplateMails } from './mail/templates.ts';
import { contactOption } from './site-settings.ts';
import { addAccountNotices } from './users/account-notices.ts';
import { readCookie } from './users/cookies.ts';
import { createLoginLimiter } from './users/login-limiter.ts';
import { createNonces } from './users/nonces.ts';
import { createSecondStep } from './users/second-step.ts';
import { createPasswordLinks } from './users/password-links.ts';
import { createPasswordMails } from './users/password-mails.ts';
import { createSessions } from './users/sessions.ts';
import { createSetup } from './users/setup.ts';
import { createRequestTraces } from './request-traces.ts';
import { createViews, type Views } from './views/views.ts';

export interface WebDependencies {
  readonly core: Core;
  /** Read for each page: the plugins load after this. */
  readonly plugins: AdminPlugins;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly warnings: Readonly<Record<string, ReadinessWarning>>;
}

/** The site in the REST index, with the page where applications ask for a password. */
function siteOfIndex(site: Core['site'], access: ApplicationPasswordAccess): RestSite {
  const authorization = (): string => `${site.url}${authorizePath}`;
  return {
    name: () => site.name(),
    description: () => site.description(),
    timezone: () => site.timezone(),
    authentication: async () =>
      (await access.managementError()) === null
        ? { 'application-passwords': { endpoints: { authorization: authorization() } } }
        : {},
  };
}

/** Everything between a request and the plugins: REST, sign-in, admin, pages, the server. */
export function createWeb({ core, plugins, checks, warnings }: WebDependencies) {
  const { clock, log, hooks, options, database } = core;
  const origins = createAllowedOrigins({ options, hooks, database, clock });
  const anonymousLimit = createAnonymousLimit({ options, hooks, database, clock });
  const signIn = createSignIn(core);
  const rest = createRest({
    hooks,
    log,
    clock,
    siteUrl: () => core.site.url,
    prefix: core.config.restPrefix,
    site: siteOfIndex(core.site, signIn.applicationPasswordAccess),
    isAllowedOrigin: origins.isAllowed,
    sessionCookie: sessionCookieName({ secure: core.site.url.startsWith('https:') }),
    ...restWatches(core),
  });
  const metrics = createHostMetrics(core);
  const bodies = createBodies({ core, metrics });
  const { assets, views } = createTemplates(core);
  const accounts = createAccountMails(core, views);
  const admin = createAdminSite({ core, plugins, signIn, bodies, assets, views, accounts });
  const passwords = createPostPasswords({
    key: () => core.secrets.deriveKey('post-passwords'),
    clock,
    limiter: signIn.limiter,
    readCookie,
    siteUrl: () => core.site.url,
  });
  const requestTraces = createTraces(core);
  const pages = createSitePages({ core, signIn, bodies, passwords, assets, views });
  const server = createLazyServer(async () =>
    (await import('./web-server.ts')).createWebServer({
      ...{ core, checks, warnings, rest, signIn, assets, admin, pages, metrics, bodies, trace: requestTraces.trace },
    }),
  );
  return {
    rest,
    admin,
    assets,
    views,
    passwords,
    countComment: (ip: string) => signIn.limiter.countComment(ip),
    publicPages: pages.publicPages,
    server,
    metrics,
    setup: signIn.setup,
    origins,
    anonymousLimit,
    ...{ sessions: signIn.sessions, authentication: signIn.authentication },
    applicationPasswords: signIn.applicationPasswords,
    credentials: signIn.credentials,
    applicationPasswordAccess: signIn.applicationPasswordAccess,
    accounts,
    requestTraces,
  };
}

export type Web = ReturnType<typeof createWeb>;

/** What follows the steps of REST requests. */
function restWatches({ eventLoop, tracer }: Core): Pick<RestDependencies, 'track' | 'step'> {
  return { track: eventLoop.track, step: (name, work) => tracer.span('step', name, work) };
}

function createTraces({ clock, secrets, site, tracer }: Core) {
  return createRequestTraces({
    tracer,
    clock,
    key: () => secrets.deriveKey('traces'),
    sessionCookie: () => sessionCookieName({ secure: site.url.startsWith('https:') }),
  });
}

function createHostMetrics({ clock, log, hooks, eventLoop, jobs }: Core): Metrics {
  const metrics = createMetrics({
    clock,
    log,
    warn: (owner, message) => hooks.doAction('plugin_warning', owner, message),
  });
  metrics.api.add(() => eventLoop.expose());
  metrics.api.add(() => jobs.metrics());
  return metrics;
}

/** Loads the server and express when it listens: commands do without. */
function createLazyServer(load: () => Promise<HttpServer>): Omit<HttpServer, 'app'> {
  let loaded: HttpServer | undefined;
  return {
    async listen(address) {
      loaded = await load();
      return loaded.listen(address);
    },
    drain: () => loaded?.drain(),
    close: async (graceMilliseconds) => loaded?.close(graceMilliseconds),
  };
}

/** Reads the bodies of all requests, within the memory of this process for them. */
function createBodies({
  core: { config, clock, log },
  metrics,
}: {
  readonly core: Core;
  readonly metrics: Metrics;
}): BodyReader {
  const budget = createBodyBudget(config.bodyBudget);
  metrics.api.add(() => [
    {
      name: 'http_request_bodies_bytes',
      type: 'gauge',
      help: 'Memory of large request bodies, until their responses end.',
      samples: [{ value: budget.held }],
    },
  ]);
  return createBodyReader({ budget, clock, log });
}

export type SignIn = ReturnType<typeof createSignIn>;

function createSignIn(core: Core) {
  const { clock, log, hooks, options, secrets, database, users, applicationPasswords, twoFactor, site } = core;
  const siteUrl = (): string => site.url;
  const nonces = createNonces({ key: () => secrets.deriveKey('nonces'), clock, hooks });
  const sessions = createSessions({ database, clock });
  const applicationPasswordAccess = createApplicationPasswordAccess({ hooks, siteUrl });
  const limiter = createLoginLimiter({ database, clock });
  // The owner of the mailbox is no stranger: others who guess cannot lock this network out.
  hooks.addAction('after_password_reset', ({ id }) => limiter.reset({ account: id, ip: currentRequest()?.ip ?? '' }));
  const authentication = createAuthentication({
    users,
    sessions,
    nonces,
    applicationPasswords,
    applicationPasswordAccess,
    limiter,
    twoFactor,
    hooks,
    clock,
    log,
    siteUrl,
  });
  const secondStep = createSecondStep({ twoFactor, users, authentication, sessions, limiter, hooks, log, siteUrl });
  const setup = createSetup({ users, options, database, key: () => secrets.deriveKey('setup'), siteUrl });
  return {
    ...{ nonces, sessions, applicationPasswords, applicationPasswordAccess },
    ...{ limiter, authentication, secondStep, setup },
    credentials: createUserCredentials({ hooks, applicationPasswords }),
  };
}

type AccountMails = ReturnType<typeof createAccountMails>;

/** Mails about accounts: links to choose a password, and notices of changes. */
function createAccountMails(core: Core, views: Views) {
  const { mail, site, database, users, hooks, clock, log, translations } = core;
  const templates = createTemplateMails({ mail, views, site, language: translations.language });
  const mailer = {
    isAvailable: () => mail.isAvailable(),
    queue: (...args: Parameters<typeof templates.queue>) => templates.queue(...args),
  };
  const links = createPasswordLinks({ database, users, clock });
  const siteUrl = (): string => site.url;
  addAccountNotices({ hooks, users, mailer, log });
  return {
    templates,
    links,
    passwords: createPasswordMails({ database, links, users, mailer, hooks, clock, log, siteUrl }),
  };
}

function createTemplates({ config, site, translations, tracer }: Core) {
  const assets = createAssets();
  assets.add('admin', fileURLToPath(new URL('admin/assets', import.meta.url)));
  // The library as one file: its package exports no path to it.
  assets.add(
    'simplewebauthn',
    join(dirname(createRequire(import.meta.url).resolve('@simplewebauthn/browser')), '../dist/bundle'),
  );
  // The editor loads it when Markdown is pasted.
  assets.add('marked', dirname(createRequire(import.meta.url).resolve('marked')));
  const views = createViews({
    directories: [config.viewsDir],
    timezone: () => site.timezone(),
    language: translations.current,
    addresses: {
      asset: (slug, file) => assets.url(slug, file),
      admin: (slug) => `/admin/${slug}`,
      scriptTexts: (path) => assets.texts(path),
    },
  });
  const { render } = views;
  const traced: Views = {
    ...views,
    render: (template, ...rest) => tracer.span('render', template, () => render(template, ...rest)),
  };
  return { assets, views: traced };
}

interface AdminSiteDependencies {
  readonly core: Core;
  readonly accounts: AccountMails;
  readonly plugins: AdminPlugins;
  readonly signIn: SignIn;
  readonly assets: Assets;
  readonly views: Views;
}

function createAdminSite({
  core,
  plugins,
  signIn,
  bodies,
  assets,
  views,
  accounts,
}: AdminSiteDependencies & { readonly bodies: BodyReader }) {
  const { site, hooks, log, clock, mail, options } = core;
  const { passwords, links } = accounts;
  const { authentication, nonces, secondStep, setup, credentials } = signIn;
  const savedViews = createSavedViews(options);
  hooks.addAction('deleted_user', async (userId) => void (await savedViews.forget(userId)));
  return createAdmin({
    views,
    assetUrl: (slug, file) => assets.url(slug, file),
    authenticate: (request) => authentication.sessionUser(request),
    limitedSession: (request) => authentication.limitedSession(request),
    secondStep,
    readBody: bodies.read,
    login: (input) => authentication.login(input),
    openSession: (user, visitor) => authentication.openSession(user, visitor),
    isFresh: (session) => authentication.isFresh(session),
    confirmPassword: (session, password, ip) => authentication.confirmPassword(session, password, ip),
    logout: (session) => authentication.logout(session),
    nonces: { create: nonces.create, verify: (check) => nonces.verify(check) !== false },
    setup,
    passwords: {
      isMailAvailable: () => mail.isAvailable(),
      contact: async () => String((await options.get<unknown>(contactOption)) || ''),
      countRequest: (ip) => passwords.countRequest(ip),
      startReset: (loginOrEmail) => passwords.startReset(loginOrEmail),
      find: (token) => links.find(token),
      credentialsOf: (userId) => credentials.list(userId),
      async choose(token, password, { revokesCredentials }) {
        const link = await passwords.choose(token, password);
        if (link && revokesCredentials) await credentials.revoke(link.user.id);
        return link;
      },
    },
    plugins,
    hiddenSteps: createHiddenSteps(options),
    savedViews,
    site,
    restUrl: () => site.restRoot(),
    language: core.translations.language,
    locales: () => core.translations.locales().map(({ value }) => value),
    hooks,
    log,
    clock,
  });
}

/** Kept as a list of user ids in one option, which any node may change. */
function createHiddenSteps(options: Core['options']): HiddenSteps {
  const name = 'home_steps_hidden_by';
  const read = (stored: unknown): readonly unknown[] => (Array.isArray(stored) ? (stored as unknown[]) : []);
  return {
    has: async (userId) => read(await options.get<unknown>(name)).includes(userId),
    set: (userId, isHidden) =>
      changeOption(options, name, (stored) => {
        const others = read(stored).filter((id) => id !== userId);
        return isHidden ? [...others, userId] : others;
      }),
  };
}

export type AdminSite = ReturnType<typeof createAdminSite>;
export type SitePages = ReturnType<typeof createSitePages>;

/** The public site: the plugins' own pages, the theme, uploads and the error page. */
function createSitePages({
  core,
  signIn,
  bodies,
  passwords,
  assets,
  views,
}: Pick<AdminSiteDependencies, 'core' | 'signIn' | 'assets' | 'views'> & {
  readonly bodies: BodyReader;
  readonly passwords: PostPasswords;
}) {
  const { hooks, options, users, site, log } = core;
  const { parts } = core.content;
  const pages = {
    views,
    site,
    restUrl: () => site.restRoot(),
    description: () => site.description(),
    theme: createLazyTheme({ parts, hooks, views, site }),
  };
  const publicPages = createPublicPages({
    renderPage: (page) => renderSitePage(pages, page),
    assetUrl: (slug, file) => assets.url(slug, file),
    siteUrl: () => site.url,
  });
  const { anonymous } = users;
  const authenticate = (request: IncomingMessage) => signIn.authentication.sessionUser(request);
  const publicSite = createLazySite({
    parts,
    hooks,
    options,
    users,
    site,
    views,
    log,
    anonymous,
    renderPage: (page) => renderSitePage(pages, page),
    authenticate,
    passwords,
    nonces: signIn.nonces,
    avatarUrl: createAvatarUrl({ hooks, siteUrl: () => '' }),
    countComment: (ip) => signIn.limiter.countComment(ip),
    readBody: (...args) => bodies.read(...args),
  });
  return {
    publicPages,
    pages,
    handlers: [
      createUploadsHandler(parts.uploads),
      createPrivateUploadsHandler({ uploads: parts.uploads, media: parts.media, authenticate, anonymous }),
      avatarsHandler,
      createProtectedResource({ site, hooks }),
      publicPages.handler,
      publicSite,
    ],
  };
}
