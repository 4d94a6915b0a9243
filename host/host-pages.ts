import type { IncomingHttpHeaders } from 'node:http';
import type { LazyAdminPage } from '#plugin-api';
import { addContentPages } from './content/admin/content-pages.ts';
import type { Core } from './core.ts';
import type { UserPagesDependencies } from './pages/users-contract.ts';
import type { HostSiteHealth } from './site-health/host-site-health.ts';
import { createAvatarUrl } from './users/avatars.ts';
import { generatePassword } from './users/passwords.ts';
import type { Web } from './web.ts';

const style = 'admin/pages.css';
/** To choose from on the page Settings. */
const mostCategories = 500;
/** The admin pages that need several parts of the host. Each is loaded on first use. */
export function addHostPages({
  core,
  web,
  health,
}: {
  readonly core: Core;
  readonly web: Web;
  readonly health: HostSiteHealth;
}): void {
  const { api } = web.admin;
  addContentPages({
    admin: api,
    parts: core.content.parts,
    users: core.users,
    site: core.site,
    hooks: core.hooks,
    now: () => core.clock.now(),
    editorFiles: web.assets.addBundle('editor', async () =>
      (await import('./content/admin/browser/bundle.ts')).editorBundle(),
    ),
  });
  const users = createUserPagesDependencies(core, web);
  for (const page of [
    ...userPages(users),
    ...ownPages(users),
    ...sitePages(core, web),
    ...developerPages(core, web),
    siteHealthPage(health, web),
  ])
    api.addPage(page);
}

function userPages(given: UserPagesDependencies): LazyAdminPage[] {
  const list = () => import('./pages/users-page.ts');
  const edit = () => import('./pages/user-edit-page.ts');
  return [
    {
      slug: 'users',
      title: 'Users',
      menu: 'Users',
      group: 'people',
      icon: 'users',
      position: 70,
      style,
      capability: 'list_users',
      body: async () => (await list()).createUsersPage(given),
    },
    {
      slug: 'users/new',
      title: 'Add user',
      parent: 'users',
      capability: 'create_users',
      body: async () => (await edit()).createNewUserPage(given),
    },
    {
      slug: 'users/edit',
      title: 'Edit user',
      parent: 'users',
      style,
      capability: 'edit_users',
      body: async () => (await edit()).createEditUserPage(given),
    },
    {
      slug: 'users/delete',
      title: 'Delete user',
      parent: 'users',
      capability: 'delete_users',
      body: async () => (await list()).createDeleteUserPage(given),
    },
  ];
}

/** Pages of the signed-in user. */
function ownPages(given: UserPagesDependencies): LazyAdminPage[] {
  return [
    {
      slug: 'profile/two-step',
      title: 'Two-step sign-in',
      parent: 'profile',
      style,
      script: 'admin/passkeys.js',
      capability: 'read',
      body: async () => (await import('./pages/two-step-page.ts')).createTwoStepPage(given),
    },
    {
      slug: 'authorize-application',
      title: 'Authorize application',
      parent: 'profile',
      style,
      capability: 'read',
      body: async () => (await import('./pages/authorize-application-page.ts')).createAuthorizePage(given),
    },
    {
      slug: 'profile',
      title: 'Profile',
      menu: 'Profile',
      group: 'people',
      parent: 'users',
      icon: 'user',
      position: 72,
      style,
      capability: 'read',
      body: async () => (await import('./pages/profile-page.ts')).createProfilePage(given),
    },
  ];
}

function sitePages(core: Core, { accounts, requestTraces }: Web): LazyAdminPage[] {
  const { options, hooks, database } = core;
  const tool = { group: 'system', style };
  const pages: LazyAdminPage[] = [
    {
      slug: 'settings',
      title: 'Settings',
      menu: 'Settings',
      group: 'system',
      icon: 'gear',
      position: 88,
      body: async () =>
        (await import('./pages/settings-page.ts')).createSettingsPage({
          options,
          hooks,
          transaction: (work) => database.transaction(work),
          locales: core.translations.locales,
          categories: async () => {
            const terms = await core.content.parts.terms.find({ taxonomy: 'category', limit: mostCategories });
            return terms.map(({ id, name }) => ({ value: String(id), label: name, isData: true }));
          },
        }),
    },
    mailPage(core, accounts),
    {
      slug: 'tools',
      title: 'Tools',
      group: 'system',
      body: async () =>
        (await import('./pages/tools-page.ts')).createToolsPage({
          ...core,
          backups: hasBackups(core) ? async () => (await openBackups(core)).list() : null,
        }),
    },
    ...workPages(core),
    {
      ...tool,
      slug: 'tools/hooks',
      title: 'Hooks',
      menu: 'Hooks',
      icon: 'puzzle',
      position: 92,
      body: () => hooksPage(core),
    },
    {
      ...tool,
      slug: 'tools/traces',
      title: 'Traces',
      menu: 'Traces',
      icon: 'gauge',
      position: 92.5,
      body: async () =>
        (await import('./pages/traces-page.ts')).createTracesPage({ list: core.tracer.list, ...requestTraces }),
    },
    securityLogPage(core),
  ];
  return [...pages, ...optionalPages(core)];
}

/** The components of pages, for developers, and the backups of a site that has a folder. */
function optionalPages(core: Core): LazyAdminPage[] {
  const tool = { group: 'system', style };
  const design: LazyAdminPage = {
    ...tool,
    slug: 'design',
    title: 'Design system',
    menu: 'Design system',
    icon: 'form',
    position: 96,
    body: async () => {
      const { iconNames } = await import('./admin/registry.ts');
      return (await import('./pages/design-page.ts')).createDesignPage([...iconNames()]);
    },
  };
  const backup: LazyAdminPage = {
    ...tool,
    slug: 'tools/backup',
    title: 'Backup',
    menu: 'Backup',
    icon: 'database',
    position: 93,
    body: async () => {
      const { createBackupPage } = await import('./pages/backup-page.ts');
      return createBackupPage(await openBackups(core));
    },
  };
  return [...(core.config.logLevel === 'debug' ? [design] : []), ...(hasBackups(core) ? [backup] : [])];
}

/** A site in memory has no folder for backups. */
const hasBackups = ({ config }: Core): boolean => config.dataDir !== ':memory:';

async function openBackups({ database, clock, config: { dataDir } }: Core) {
  return (await import('./pages/backups.ts')).createBackups({ database, clock, dataDir });
}

/** Scheduled events and background jobs. */
function workPages({ cron, jobs, hooks, site, clock }: Core): LazyAdminPage[] {
  const tool = { group: 'system', style };
  return [
    {
      ...tool,
      slug: 'tools/cron',
      title: 'Cron',
      menu: 'Cron',
      icon: 'clock',
      position: 91,
      body: async () => (await import('./pages/cron-page.ts')).createCronPage({ cron, clock, jobs, hooks }),
    },
    {
      ...tool,
      slug: 'tools/jobs',
      title: 'Jobs',
      menu: 'Jobs',
      icon: 'list',
      position: 91.5,
      body: async () => (await import('./pages/jobs-page.ts')).createJobsPage({ jobs, site, clock }),
    },
  ];
}

function developerPages({ abilities }: Core, { rest }: Pick<Web, 'rest'>): LazyAdminPage[] {
  return [
    {
      slug: 'rest',
      title: 'REST',
      menu: 'REST',
      group: 'developers',
      icon: 'code',
      position: 85,
      script: 'admin/rest-trial.js',
      body: async () => (await import('./rest/openapi/page/rest-page.ts')).createRestPage({ rest }),
    },
    {
      slug: 'abilities',
      title: 'Abilities',
      menu: 'Abilities',
      group: 'developers',
      icon: 'bolt',
      position: 85.5,
      body: async () => {
        const [{ createAbilitiesPage }, { memberLines }, { exampleOf }] = await Promise.all([
          import('./abilities/abilities-page.ts'),
          import('./rest/openapi/page/schema-lines.ts'),
          import('./rest/openapi/page/curl.ts'),
        ]);
        // Schemas of abilities refer to nothing.
        const document = {
          openapi: '',
          info: { title: '', version: '' },
          servers: [],
          tags: [],
          paths: {},
          components: {},
        };
        return createAbilitiesPage({
          abilities,
          fieldsOf: (schema) => memberLines({ document, schema }),
          exampleOf: (schema) => exampleOf(document, schema),
        });
      },
    },
  ];
}

function siteHealthPage({ siteHealth }: HostSiteHealth, { views }: Pick<Web, 'views'>): LazyAdminPage {
  return {
    group: 'system',
    style,
    slug: 'tools/site-health',
    title: 'Site Health',
    menu: 'Site Health',
    icon: 'shield',
    position: 90.5,
    capability: 'view_site_health_checks',
    body: async () => {
      const [{ createSiteHealthPage }, { sanitizeHtml }] = await Promise.all([
        import('./site-health/site-health-page.ts'),
        import('./content/html/sanitize.ts'),
      ]);
      return createSiteHealthPage({ siteHealth, views, sanitizeHtml });
    },
  };
}

function securityLogPage({ securityLog, users }: Core): LazyAdminPage {
  return {
    group: 'system',
    style,
    slug: 'tools/security-log',
    title: 'Security log',
    menu: 'Security log',
    icon: 'shield',
    position: 94,
    body: async () => (await import('./pages/security-log-page.ts')).createSecurityLogPage({ securityLog, users }),
  };
}

function mailPage({ mail }: Core, { templates }: Web['accounts']): LazyAdminPage {
  return {
    slug: 'settings/mail',
    title: 'Mail',
    menu: 'Mail',
    group: 'system',
    icon: 'mail',
    style,
    position: 89,
    body: async () =>
      (await import('./pages/mail-page.ts')).createMailPage({
        settings: mail.settings,
        unsent: (limit) => mail.unsent(limit),
        retry: (id) => mail.retry(id),
        remove: (id) => mail.remove(id),
        sendTest: (user) => templates.send({ to: user, template: 'test' }),
      }),
  };
}

async function hooksPage({ hooks }: Core) {
  const [{ createHooksPage }, { findHooks }] = await Promise.all([
    import('./pages/hooks-page.ts'),
    import('./hooks/hooks-route.ts'),
  ]);
  return createHooksPage({ find: (search) => findHooks(hooks.describe(), search) });
}

function createUserPagesDependencies(
  { users, twoFactor, site, hooks, mail, clock, translations }: Core,
  {
    sessions,
    applicationPasswords,
    credentials,
    applicationPasswordAccess,
    authentication,
    accounts: { links, passwords },
  }: Web,
): UserPagesDependencies {
  return {
    users,
    isMailAvailable: () => mail.isAvailable(),
    invitations: {
      send: (user) => passwords.invite(user),
      find: (userId) => links.invitation(userId),
      revoke: (userId) => links.revokeInvitation(userId),
    },
    locales: translations.locales,
    now: () => clock.now(),
    temporaryPassword: () => generatePassword(),
    sessions,
    applicationPasswords,
    credentials,
    applicationPasswordsError: (user) => applicationPasswordAccess.managementError(user),
    twoFactor,
    siteName: () => site.name(),
    siteUrl: () => site.url,
    roles: () => users.roles(),
    // Relative URLs: avatars come from the page's own origin.
    avatarUrl: createAvatarUrl({ hooks, siteUrl: () => '' }),
    currentSession: async (request) => {
      const call = { headers: request.headers as IncomingHttpHeaders };
      const session = (await authentication.sessionUser(call)) ?? (await authentication.limitedSession(call));
      return session?.sessionId ?? '';
    },
  };
}
