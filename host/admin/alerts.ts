import type { AdminPageBody, HomeAlert, Logger, RecentFailure, User } from '#plugin-api';
import type { Request, Response } from 'express';
import type { AdminContext, AdminDependencies, PluginSummary } from './dependencies.ts';
import { toHref } from './local-path.ts';

/** Failures that are listed, the newest first. */
const maxFailures = 10;

type AlertParts = Pick<AdminDependencies, 'hooks' | 'plugins' | 'log'>;

/** What needs attention of this user: recent failures for administrators, followed by what plugins add. */
export async function collectAlerts({ hooks, plugins, log }: AlertParts, user: User): Promise<readonly HomeAlert[]> {
  const failures = user.can('manage_options')
    ? await filterLines(log, (await plugins.list()).flatMap(pluginFailures), (lines: readonly RecentFailure[]) =>
        hooks.applyFiltersAsync('admin_recent_failures', lines, user),
      )
    : [];
  const own = failures.slice(0, maxFailures).map((failure): HomeAlert => ({ kind: 'error', ...failure }));
  return filterLines(log, own, (alerts: readonly HomeAlert[]) => hooks.applyFiltersAsync('admin_alerts', alerts, user));
}

/** The page that the bell leads to. */
export function createAlertsPage(parts: AlertParts): AdminPageBody {
  return {
    render: async ({ user }) => ({
      template: 'admin/alerts',
      data: { alerts: (await collectAlerts(parts, user)).map(alertView) },
    }),
  };
}

/** Answers `GET /alert-count` with the number that the bell shows, as JSON. */
export async function sendAlertCount(context: AdminContext, request: Request, response: Response): Promise<void> {
  const session = await context.authenticate(request);
  if (!session) return context.errorResponses.requireSignIn(request, response);
  response.json({ count: (await collectAlerts(context, session.user)).length });
}

export function alertView(alert: HomeAlert): Record<string, unknown> {
  return {
    ...alert,
    icon: alert.kind,
    label: alert.label ?? 'Show',
    href: alert.href === undefined ? null : toHref(alert.href),
  };
}

/** Ignores a filter that throws: the page must work when a plugin fails. */
export async function filterLines<Line>(
  log: Logger,
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
