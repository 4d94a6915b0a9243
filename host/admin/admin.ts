import type { Router } from 'express';
import type { AdminApi } from '#plugin-api';
import { createErrorResponses } from './error-responses.ts';
import type { AdminContext, AdminDependencies } from './dependencies.ts';
import { createFlashNotices } from './notices.ts';
import { createAdminRegistry } from './registry.ts';
import { createShell } from './shell.ts';

/** Largest plugin zip in bytes. */
const zipLimit = 20 * 1_048_576;

export interface Admin {
  /** The API that plugins register with. The loader creates a scoped view for each plugin. */
  readonly api: AdminApi;
  /** The same for a plugin, which its log lines name. */
  forOwner(owner: string): AdminApi;
  /** Slugs of the pages of a plugin. */
  slugs(owner: string): readonly string[];
  /** Mount it at `/admin`, behind the server that sets request ids and security headers. */
  createRouter(): Promise<Router>;
}

/**
 * The admin: sign-in, first-run setup, dashboard, plugins page and the pages of plugins. It is stateless, so any node can
 * serve any request.
 */
export function createAdmin(dependencies: AdminDependencies): Admin {
  const registry = createAdminRegistry({
    siteUrl: () => dependencies.site.url,
    assetUrl: dependencies.assetUrl,
    log: dependencies.log,
    warn: (owner, message) => void dependencies.hooks.doActionAsync('plugin_warning', owner, message),
  });
  const shell = createShell(dependencies, registry);
  const context: AdminContext = {
    ...dependencies,
    registry,
    shell,
    flash: createFlashNotices(dependencies.nonces, () => dependencies.site.url.startsWith('https:')),
    errorResponses: createErrorResponses(shell, dependencies),
  };
  registry.api.addPage({
    slug: '',
    title: 'Home',
    menu: 'Home',
    icon: 'home',
    position: 0,
    capability: 'read',
    style: 'admin/home.css',
    body: async () => (await import('./dashboard.ts')).createDashboard(dependencies, registry),
  });
  registry.api.addPage({
    slug: 'search',
    title: 'Search',
    capability: 'read',
    body: async () => (await import('./search-page.ts')).createSearchPage({ ...dependencies, registry }),
  });
  registry.api.addPage({
    slug: 'alerts',
    title: 'Alerts',
    capability: 'read',
    style: 'admin/home.css',
    body: async () => (await import('./alerts.ts')).createAlertsPage(dependencies),
  });
  registry.api.addPage({
    slug: 'plugins',
    title: 'Plugins',
    menu: 'Plugins',
    group: 'system',
    icon: 'puzzle',
    position: 80,
    capability: 'activate_plugins',
    uploadLimit: zipLimit,
    body: async () => (await import('./plugins-page.ts')).createPluginsPage(dependencies),
  });
  return {
    api: registry.api,
    forOwner: registry.forOwner,
    slugs: registry.slugs,
    createRouter: async () => (await import('./router.ts')).createAdminRouter(context),
  };
}
