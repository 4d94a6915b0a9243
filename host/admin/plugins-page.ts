import {
  errorText,
  RestError,
  type AdminActionResult,
  type AdminPageBody,
  type AdminRequest,
  type HealthResult,
  withNotice,
} from '#plugin-api';
import type { AdminDependencies, PluginSummary } from './dependencies.ts';
import { textField } from './form.ts';
import { stateBadge } from './dashboard.ts';

interface Findings {
  readonly slug: string;
  readonly results: readonly HealthResult[];
}

/**
 * The list of plugins: install, activate, deactivate, uninstall and check health. A failed plugin shows its stage and
 * reason, and can be activated again.
 */
export function createPluginsPage({ plugins }: Pick<AdminDependencies, 'plugins'>): AdminPageBody {
  const find = async (request: AdminRequest): Promise<PluginSummary> => {
    const plugin = (await plugins.list()).find(({ slug }) => slug === request.form['slug']);
    if (!plugin)
      throw new RestError({
        code: 'rest_plugin_not_found',
        status: 404,
        message: 'Plugin not found. It may have been removed.',
      });
    return plugin;
  };
  const change =
    (verb: 'activate' | 'deactivate', done: string) =>
    async (request: AdminRequest): Promise<AdminActionResult> => {
      const plugin = await find(request);
      await withPluginError({ request, verb, subject: plugin.name }, () => plugins[verb](plugin.slug));
      return withNotice('success', `${plugin.name} ${done}.`);
    };
  const render = async (
    request: AdminRequest,
    findings?: Findings,
  ): Promise<{ template: string; data: Record<string, unknown> }> => ({
    template: 'admin/plugins',
    data: {
      plugins: (await plugins.list()).map((plugin) => describePlugin(plugin, { request, findings })),
      mayInstall: request.user.can('install_plugins'),
      needsPassword: !request.isSignInFresh,
    },
  });
  return {
    render: (request) => render(request),
    actions: {
      activate: change('activate', 'activated'),
      deactivate: change('deactivate', 'deactivated'),
      async install(request) {
        requireCapability(request, 'install_plugins');
        request.requireFreshSignIn();
        const file = request.files?.['zip'];
        if (!file || file.size === 0)
          throw new RestError({ code: 'rest_plugin_no_zip', status: 400, message: 'Choose the zip file of a plugin.' });
        const installed = await withPluginError({ request, verb: 'install', subject: file.name }, () =>
          plugins.install({ path: file.path, activate: textField(request.form, 'activate') === '1' }),
        );
        const { name, version, replaced, activated } = installed;
        const change = replaced === null ? `${version} installed` : `updated from ${replaced} to ${version}`;
        return withNotice('success', `${name} ${change}${activated ? ' and activated' : ''}.`);
      },
      async uninstall(request) {
        requireCapability(request, 'delete_plugins');
        const plugin = await find(request);
        const { folderRemoved, remainingMigrations } = await withPluginError(
          { request, verb: 'uninstall', subject: plugin.name },
          () => plugins.uninstall(plugin.slug),
        );
        const tables = remainingMigrations.length === 0 ? '' : ` Its tables stay, because it has no 'uninstall'.`;
        return withNotice(
          'success',
          (folderRemoved
            ? `${plugin.name} uninstalled. Its data and folder were deleted.`
            : `${plugin.name} uninstalled. Its data was deleted; its folder was kept` +
              (plugin.shipped ? '.' : ' because it was not installed here.')) + tables,
        );
      },
      async health(request) {
        const plugin = await find(request);
        const [health] = await withPluginError({ request, verb: 'health', subject: plugin.name }, () =>
          plugins.health(plugin.slug),
        );
        const results = health?.results ?? [];
        return { data: results, page: await render(request, { slug: plugin.slug, results }) };
      },
    },
  };
}

function requireCapability({ user }: AdminRequest, capability: string): void {
  if (!user.can(capability))
    throw new RestError({ code: 'rest_forbidden', status: 403, message: 'You are not allowed to do this.' });
}

/** Error messages of plugins are meant for administrators, so they are shown unchanged. */
async function withPluginError<Result>(
  { request, verb, subject }: { request: AdminRequest; verb: string; subject: string },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    request.log.warn('Plugin operation failed', {
      event: 'plugin_operation_failed',
      operation: verb,
      plugin: subject,
      error,
    });
    throw new RestError({
      code: `rest_plugin_${verb}_failed`,
      status: 400,
      message: `${subject}: ${errorText(error)}`,
      cause: error,
    });
  }
}

const healthKinds = { good: 'success', recommended: 'warning', critical: 'error' } as const;

/** An error in one of these stages disables the plugin. Failures of other stages leave it active but not running. */
const quarantineStages = ['import', 'migrate', 'backup', 'register', 'upgrade', 'activate'];

function describeFailure({ failure }: PluginSummary): string {
  const stage = failure?.stage ?? 'start';
  if (stage === 'crash') return 'Stopped after an error, until you try again or the site restarts';
  return quarantineStages.includes(stage) ? `Disabled after an error (${stage})` : `Could not start (${stage})`;
}

function describePlugin(
  plugin: PluginSummary,
  { request, findings }: { request: AdminRequest; findings: Findings | undefined },
): Record<string, unknown> {
  const isActive = plugin.state === 'active';
  return {
    ...plugin,
    badge:
      plugin.mustUse && isActive
        ? { text: 'Must-use', kind: 'success' }
        : { text: stateBadge(plugin.state).state, kind: stateBadge(plugin.state).kind },
    isActive,
    isFailed: plugin.state === 'failed',
    failureTitle: describeFailure(plugin),
    mayUninstall: plugin.state === 'inactive' && !plugin.mustUse && request.user.can('delete_plugins'),
    uninstallQuestion:
      `Uninstall ${plugin.name}? This deletes all its data. You cannot undo this.` +
      (plugin.shipped ? ' Its folder is kept because it ships with the host.' : ''),
    health:
      findings?.slug === plugin.slug
        ? { results: findings.results.map((each) => ({ ...each, kind: healthKinds[each.status] })) }
        : null,
    needs: Object.entries(plugin.requires)
      .map(([slug, range]) => `${slug} ${range}`)
      .join(', '),
  };
}
