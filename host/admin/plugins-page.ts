import {
  RestError,
  type AdminActionResult,
  type AdminPageBody,
  type AdminRequest,
  type HealthResult,
} from '#plugin-api';
import type { AdminDependencies, PluginSummary } from './dependencies.ts';
import { textField } from './form.ts';
import { stateBadge } from './dashboard.ts';

/** Findings of one plugin, shown once. */
interface Findings {
  readonly slug: string;
  readonly results: readonly HealthResult[];
}

/**
 * The list of plugins: install, switch on and off, uninstall, ask for their health. A failed one shows at which stage and
 * why, and can be tried again.
 */
export function createPluginsPage({ plugins }: Pick<AdminDependencies, 'plugins'>): AdminPageBody {
  const find = async (request: AdminRequest): Promise<PluginSummary> => {
    const plugin = (await plugins.list()).find(({ slug }) => slug === request.form['slug']);
    if (!plugin)
      throw new RestError({ code: 'rest_plugin_not_found', status: 404, message: 'There is no such plugin.' });
    return plugin;
  };
  const change =
    (verb: 'activate' | 'deactivate', done: string) =>
    async (request: AdminRequest): Promise<AdminActionResult> => {
      const plugin = await find(request);
      await attempt({ request, verb, about: plugin.name }, () => plugins[verb](plugin.slug));
      return success(`${plugin.name} is ${done}.`);
    };
  const render = async (
    request: AdminRequest,
    findings?: Findings,
  ): Promise<{ template: string; data: Record<string, unknown> }> => ({
    template: 'admin/plugins',
    data: {
      plugins: (await plugins.list()).map((plugin) => describePlugin(plugin, { request, findings })),
      mayInstall: request.user.can('install_plugins'),
    },
  });
  return {
    render: (request) => render(request),
    actions: {
      activate: change('activate', 'active'),
      deactivate: change('deactivate', 'switched off'),
      async install(request) {
        demand(request, 'install_plugins');
        const file = request.files?.['zip'];
        if (!file || file.size === 0)
          throw new RestError({ code: 'rest_plugin_no_zip', status: 400, message: 'Choose the zip of a plugin.' });
        const installed = await attempt({ request, verb: 'install', about: file.name }, () =>
          plugins.install({ path: file.path, activate: textField(request.form, 'activate') === '1' }),
        );
        const { name, version, replaced, activated } = installed;
        return success(
          `${name} ${version} is ${replaced === null ? 'installed' : `in the place of ${replaced}`}${activated ? ' and active' : ''}.`,
        );
      },
      async uninstall(request) {
        demand(request, 'delete_plugins');
        const plugin = await find(request);
        const removed = await attempt({ request, verb: 'uninstall', about: plugin.name }, () =>
          plugins.uninstall(plugin.slug),
        );
        return success(
          `${plugin.name} is uninstalled, with its data${removed ? ' and its folder' : '; its folder stays'}.`,
        );
      },
      async health(request) {
        const plugin = await find(request);
        const [health] = await attempt({ request, verb: 'health', about: plugin.name }, () =>
          plugins.health(plugin.slug),
        );
        const results = health?.results ?? [];
        return { data: results, page: await render(request, { slug: plugin.slug, results }) };
      },
    },
  };
}

function success(text: string): AdminActionResult {
  return { notice: { kind: 'success', text } };
}

function demand({ user }: AdminRequest, capability: string): void {
  if (!user.can(capability))
    throw new RestError({ code: 'rest_forbidden', status: 403, message: 'Your account may not do this.' });
}

/** The reasons a plugin gives are made for administrators: they are shown as they are. */
async function attempt<Result>(
  { request, verb, about }: { request: AdminRequest; verb: string; about: string },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    request.log.warn(`The plugin could not ${verb}.`, { plugin: about, error });
    throw new RestError({
      code: `rest_plugin_${verb}_failed`,
      status: 400,
      message: `${about}: ${error instanceof Error ? error.message : String(error)}`,
      cause: error,
    });
  }
}

const healthKinds = { good: 'success', recommended: 'warning', critical: 'error' } as const;

function describePlugin(
  plugin: PluginSummary,
  { request, findings }: { request: AdminRequest; findings: Findings | undefined },
): Record<string, unknown> {
  const isActive = plugin.state === 'active';
  return {
    ...plugin,
    badge:
      plugin.mustUse && isActive
        ? { text: 'Must use', kind: 'success' }
        : { text: stateBadge(plugin.state).state, kind: stateBadge(plugin.state).kind },
    isActive,
    isFailed: plugin.state === 'failed',
    mayUninstall: plugin.state === 'inactive' && !plugin.mustUse && request.user.can('delete_plugins'),
    uninstallQuestion: `Uninstall ${plugin.name}? All its data is removed and cannot be brought back.${plugin.shipped ? ' Its folder stays, since it comes with this host.' : ''}`,
    health:
      findings?.slug === plugin.slug
        ? { results: findings.results.map((each) => ({ ...each, kind: healthKinds[each.status] })) }
        : null,
    needs: Object.entries(plugin.requires)
      .map(([slug, range]) => `${slug} ${range}`)
      .join(', '),
  };
}
