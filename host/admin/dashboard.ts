import { formatPercent, withNotice, restError } from '#plugin-api';
import type { AdminHome, AdminPageBody, AdminRequest, HomeTile, NextStep } from '#plugin-api';
import { alertView, collectAlerts, filterLines } from './alerts.ts';
import type { AdminDependencies, PluginSummary } from './dependencies.ts';
import { toHref } from './local-path.ts';
import type { AdminRegistry } from './registry.ts';

const periods = [
  { days: 1, label: 'Today' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
];
const defaultDays = 7;
const nothing: AdminHome = { alerts: [], tiles: [], chart: null, lists: [], health: [] };
/** Size of a line chart of a tile, in units of the image. */
const spark = { width: 120, height: 32 } as const;

/** The home page: what needs attention, figures of a period, health of services, latest objects and next steps. */
export function createDashboard(dependencies: AdminDependencies, registry: AdminRegistry): AdminPageBody {
  const { hooks, site, restUrl, hiddenSteps } = dependencies;
  return {
    render: async (request) => {
      const { user } = request;
      const days = periods.find((period) => String(period.days) === request.query['days'])?.days ?? defaultDays;
      const home = await filterHome(request, (value) => hooks.applyFiltersAsync('admin_home', value, { user, days }));
      const manages = user.can('manage_options');
      const alerts = await collectAlerts(dependencies, user);
      const steps = manages
        ? await filterLines(request.log, [], (lines: readonly NextStep[]) =>
            hooks.applyFiltersAsync('admin_next_steps', lines, user),
          )
        : [];
      return {
        template: 'admin/dashboard',
        data: {
          ...homeView(home),
          alerts: [...alerts, ...home.alerts].map(alertView),
          ...stepsView(steps, manages && (await hiddenSteps.has(user.id))),
          periods: periods.map((period) => ({
            label: period.label,
            href: `?days=${String(period.days)}`,
            current: period.days === days,
          })),
          manages,
          hasChoices: manages && registry.choices().length > 0,
          restUrl: restUrl(),
          version: site.version,
        },
      };
    },
    actions: {
      'hide-steps': async (request) => {
        await setStepsHidden(request, dependencies, true);
        return {
          notice: { kind: 'success', text: 'First steps hidden.', undo: { action: 'show-steps', fields: {} } },
        };
      },
      'show-steps': async (request) => {
        await setStepsHidden(request, dependencies, false);
        return withNotice('success', 'First steps shown.');
      },
    },
  };
}

async function setStepsHidden(
  { user }: AdminRequest,
  { hiddenSteps }: Pick<AdminDependencies, 'hiddenSteps'>,
  isHidden: boolean,
): Promise<void> {
  if (!user.can('manage_options')) throw restError(403, 'rest_forbidden', 'Only administrators see the first steps.');
  await hiddenSteps.set(user.id, isHidden);
}

function homeView({ tiles, chart, lists, health }: AdminHome): Record<string, unknown> {
  const link = (href: string | undefined): string | null => (href === undefined ? null : toHref(href));
  return {
    tiles: tiles.map((tile) => ({
      ...tile,
      href: link(tile.href),
      ...changeView(tile),
      spark: sparkView(tile.points),
    })),
    chart: chart && { ...chart, href: link(chart.href) },
    lists: lists.map((list) => ({
      ...list,
      href: link(list.href),
      items: list.items.map((item) => ({ ...item, href: link(item.href) })),
    })),
    health: health.map((service) => ({ ...service, href: link(service.href), stateText: stateTexts[service.state] })),
  };
}

const stateTexts = { ok: 'Working', warning: 'Some errors', error: 'Failing', unknown: 'Not used' } as const;

/** The change from the previous period. Nothing when there was nothing to compare with. */
function changeView({ change }: HomeTile): { readonly changeText: string } {
  if (!change || change.before === 0) return { changeText: '' };
  const percent = Math.round(((change.now - change.before) / change.before) * 100);
  if (percent === 0) return { changeText: 'as before' };
  return { changeText: `${percent > 0 ? '+' : '−'}${formatPercent(Math.min(999, Math.abs(percent)))}` };
}

function sparkView(points: readonly number[] = []): Record<string, unknown> | null {
  const most = Math.max(...points, 0);
  if (points.length < 2 || most === 0) return null;
  const [width, height] = [spark.width - 4, spark.height - 4];
  const line = points.map((value, index) => {
    const x = 2 + (width * index) / (points.length - 1);
    return `${x.toFixed(1)},${(2 + height - (height * value) / most).toFixed(1)}`;
  });
  return { ...spark, points: line.join(' ') };
}

/** The steps, or how many of them are done while the user hides them. Nothing once all are done. */
function stepsView(
  steps: readonly NextStep[],
  isHidden: boolean,
): { readonly steps: unknown; readonly stepsHidden: unknown } {
  const done = steps.filter((step) => step.done === true).length;
  if (done === steps.length) return { steps: null, stepsHidden: null };
  const counts = { done, total: steps.length };
  if (isHidden) return { steps: null, stepsHidden: counts };
  const items = steps.map((step) => ({ ...step, href: step.href === undefined ? null : toHref(step.href) }));
  return { steps: { ...counts, items }, stepsHidden: null };
}

async function filterHome({ log }: AdminRequest, filter: (home: AdminHome) => Promise<AdminHome>): Promise<AdminHome> {
  try {
    // A plugin in plain JavaScript may return anything, or leave out a part.
    const home = (await filter(nothing)) as Partial<AdminHome> | null | undefined;
    return { ...nothing, ...home };
  } catch (error) {
    log.error('Dashboard filter failed', { event: 'dashboard_filter_failed', error });
    return nothing;
  }
}

export function stateBadge(state: PluginSummary['state']): { readonly state: string; readonly kind: string } {
  if (state === 'failed') return { state: 'Failed', kind: 'error' };
  return state === 'active' ? { state: 'Active', kind: 'success' } : { state: 'Inactive', kind: '' };
}
