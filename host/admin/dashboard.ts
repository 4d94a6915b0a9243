import type { AdminPageBody, AdminRequest } from '#plugin-api';
import type { AdminDependencies, NextStep, PluginSummary, RecentFailure } from './dependencies.ts';
import { adminPath } from './local-path.ts';
import type { AdminRegistry } from './registry.ts';

/** The dashboard: plugins, the REST root, next steps and recent failures. */
export function createDashboard(dependencies: AdminDependencies, registry: AdminRegistry): AdminPageBody {
  const { hooks, plugins, site, restUrl } = dependencies;
  return {
    render: async (request) => {
      const manages = request.user.can('manage_options');
      // What runs here, and what failed, is for administrators alone.
      if (!manages) return { template: 'admin/dashboard', data: { restUrl: restUrl(), siteUrl: site.url } };
      const list = await plugins.list();
      const steps = await filterLines(request, [], (lines: readonly NextStep[]) =>
        hooks.applyFiltersAsync('admin_next_steps', lines, request.user),
      );
      const failures = await filterLines(request, list.flatMap(pluginFailures), (lines) =>
        hooks.applyFiltersAsync('admin_recent_failures', lines, request.user),
      );
      return {
        template: 'admin/dashboard',
        data: {
          restUrl: restUrl(),
          siteUrl: site.url,
          version: site.version,
          manages,
          active: list.filter((plugin) => plugin.state === 'active').length,
          failed: list.filter((plugin) => plugin.state === 'failed').length,
          plugins: list.map(({ name, version, state }) => ({ name, version, ...stateBadge(state) })),
          steps: steps.map((step) => ({ ...step, href: step.href === undefined ? null : toHref(step.href) })),
          hasChoices: registry.choices().length > 0,
          failures: failures
            .slice(0, 10)
            .map((failure) => ({ ...failure, href: failure.href === undefined ? null : toHref(failure.href) })),
        },
      };
    },
  };
}

/** Ignores a filter that throws: the dashboard must work when a plugin fails. */
async function filterLines<Line>(
  { log }: AdminRequest,
  own: readonly Line[],
  filter: (lines: readonly Line[]) => Promise<readonly Line[]>,
): Promise<readonly Line[]> {
  try {
    const lines: unknown = await filter(own);
    return Array.isArray(lines) ? (lines as Line[]) : own;
  } catch (error) {
    log.error('Dashboard filter failed', { event: 'dashboard_filter_failed', error });
    return own;
  }
}

function pluginFailures(plugin: PluginSummary): RecentFailure[] {
  const failure = plugin.state === 'failed' ? plugin.failure : plugin.lastError;
  if (plugin.state !== 'failed' && !failure) return [];
  const at = failure?.at === undefined ? Number.NaN : new Date(failure.at).getTime();
  return [
    {
      source: plugin.name,
      text: failure?.message ?? 'No reason was given.',
      href: 'plugins',
      ...(!Number.isNaN(at) && { at }),
    },
  ];
}

function toHref(href: string): string {
  return /^https?:\/\//.test(href) ? href : adminPath(href);
}

export function stateBadge(state: PluginSummary['state']): { readonly state: string; readonly kind: string } {
  if (state === 'failed') return { state: 'Failed', kind: 'error' };
  return state === 'active' ? { state: 'Active', kind: 'success' } : { state: 'Inactive', kind: '' };
}
