import { join } from 'node:path';
import type { IncomingHttpHeaders } from 'node:http';
import { addContentPages } from './content/admin/content-pages.ts';
import type { Core } from './core.ts';
import { findHooks } from './hooks/hooks-route.ts';
import { createBackupPage } from './pages/backup-page.ts';
import { createBackups } from './pages/backups.ts';
import { createCronPage } from './pages/cron-page.ts';
import { createHooksPage } from './pages/hooks-page.ts';
import { createProfilePage } from './pages/profile-page.ts';
import { createSettingsPage } from './pages/settings-page.ts';
import { createToolsPage, type ToolLine } from './pages/tools-page.ts';
import { createEditUserPage, createNewUserPage } from './pages/user-edit-page.ts';
import type { UserPagesDependencies } from './pages/users-contract.ts';
import { createDeleteUserPage, createUsersPage } from './pages/users-page.ts';
import { createAvatarUrl } from './users/avatars.ts';
import { createLoginLimiter } from './users/login-limiter.ts';
import { roleNames } from './users/roles.ts';
import type { Web } from './web.ts';

const tools: readonly ToolLine[] = [
  { slug: 'tools/cron', title: 'Cron', text: 'What runs when, what ran, and what came of it.', icon: 'clock' },
  { slug: 'tools/hooks', title: 'Hooks', text: 'Every filter and action with its callbacks and their owners.', icon: 'puzzle' },
];
const backupTool: ToolLine = { slug: 'tools/backup', title: 'Backup', text: 'Copies of the database, made while the site runs.', icon: 'database' };

/** The admin pages that need several parts of the host. */
export function addHostPages({ core, web }: { readonly core: Core; readonly web: Web }): void {
  const { cron, clock, options, hooks, database, site, content } = core;
  const { api } = web.admin;
  const users = userPages(core, web);
  addContentPages({ admin: api, parts: content.parts, users: core.users, site, hooks });
  for (const create of [createUsersPage, createNewUserPage, createEditUserPage, createDeleteUserPage, createProfilePage]) api.addPage(create(users));
  api.addPage(createSettingsPage({ options, hooks, transaction: (work) => database.transaction(work) }));
  const backups = backupsOf(core);
  api.addPage(createToolsPage(backups === null ? tools : [...tools, backupTool]));
  api.addPage(createCronPage({ cron, clock }));
  api.addPage(createHooksPage({ find: (search) => findHooks(hooks.describe(), search) }));
  if (backups !== null) api.addPage(createBackupPage(backups));
}

function userPages({ users, database, clock, hooks }: Core, { sessions, applicationPasswords, authentication }: Web): UserPagesDependencies {
  const limiter = createLoginLimiter({ database, clock });
  return {
    users,
    sessions,
    applicationPasswords,
    roles: roleNames,
    // From the address the page itself came from.
    avatarUrl: createAvatarUrl({ hooks, siteUrl: () => '' }),
    currentSession: async ({ headers }) => (await authentication.sessionUser({ headers: headers as IncomingHttpHeaders }))?.sessionId ?? '',
    async isOwnPassword({ user, ip }, password) {
      await limiter.spend(user.login, ip);
      const isOwn = (await users.verify(user.login, password))?.id === user.id;
      if (isOwn) await limiter.reset(user.login, ip);
      return isOwn;
    },
  };
}

/** Null for a site without a folder: one in memory. */
function backupsOf({ config, database, clock }: Core) {
  if (config.dataDir === ':memory:') return null;
  return createBackups({
    directory: join(config.dataDir, 'backups'), ending: database.dialect === 'sqlite' ? '.sqlite' : '.jsonl.gz', backup: (file) => database.backup(file), clock,
  });
}
