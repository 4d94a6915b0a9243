import {
  backToList,
  errorText,
  formatCount,
  listTabs,
  listQuery,
  listView,
  matchesSearch,
  notSelected,
  pageRows,
  queryText,
  readList,
  readTextIds,
  RestError,
  restError,
  type AdminActionResult,
  type AdminPageBody,
  type AdminRequest,
  type AdminView,
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
    if (!plugin) throw restError(404, 'rest_plugin_not_found', 'Plugin not found. It may have been removed.');
    return plugin;
  };
  const change =
    (verb: 'activate' | 'deactivate', done: string) =>
    async (request: AdminRequest): Promise<AdminActionResult> => {
      const plugin = await find(request);
      request.requireFreshSignIn();
      await withPluginError({ request, verb, subject: plugin.name }, () => plugins[verb](plugin.slug));
      return changed(request, { verb, slugs: [plugin.slug], text: `${plugin.name} ${done}.` });
    };
  const render = async (request: AdminRequest, findings?: Findings): Promise<AdminView> =>
    renderPlugins(await plugins.list(), { request, findings });
  return {
    render: (request) => render(request),
    actions: {
      activate: change('activate', 'activated'),
      deactivate: change('deactivate', 'deactivated'),
      bulk: (request) => changeSeveral(plugins, request),
      async install(request) {
        requireCapability(request, 'install_plugins');
        request.requireFreshSignIn();
        const file = request.files?.['zip'];
        if (!file || file.size === 0) throw restError(400, 'rest_plugin_no_zip', 'Choose the zip file of a plugin.');
        const installed = await withPluginError({ request, verb: 'install', subject: file.name }, () =>
          plugins.install({ path: file.path, activate: textField(request.form, 'activate') === '1' }),
        );
        const { name, version, replaced, activated } = installed;
        const change = replaced === null ? `${version} installed` : `updated from ${replaced} to ${version}`;
        return withNotice('success', `${name} ${change}${activated ? ' and activated' : ''}.`);
      },
      async uninstall(request) {
        requireCapability(request, 'delete_plugins');
        request.requireFreshSignIn();
        const plugin = await find(request);
        const { folderRemoved, remainingMigrations } = await withPluginError(
          { request, verb: 'uninstall', subject: plugin.name },
          () => plugins.uninstall(plugin.slug),
        );
        const data =
          remainingMigrations.length === 0
            ? ''
            : ` What its migrations made in the database stays, because it has no 'uninstall'.`;
        return withNotice(
          'success',
          (folderRemoved
            ? `${plugin.name} uninstalled. Its data and folder were deleted.`
            : `${plugin.name} uninstalled. Its data was deleted; its folder was kept` +
              (plugin.shipped ? '.' : ' because it was not installed here.')) + data,
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

const states = ['active', 'inactive', 'failed'] as const;

/** The list of plugins with states, search and sorting. */
function renderPlugins(
  all: readonly PluginSummary[],
  { request, findings }: { readonly request: AdminRequest; readonly findings: Findings | undefined },
): AdminView {
  const search = queryText(request, 's');
  const state = states.find((name) => name === queryText(request, 'state')) ?? '';
  const found = all.filter(({ name, description, slug }) => matchesSearch(search, name, description ?? '', slug));
  const shown = found.filter((plugin) => state === '' || plugin.state === state);
  const page = pageRows(
    readList(request, { sortable: ['name', 'state'], filters: { s: search, state } }),
    shown,
    (plugin, column) => (column === 'name' ? plugin.name : plugin.state),
  );
  const back = listQuery(page.state);
  return {
    template: 'admin/plugins',
    data: {
      total: all.length,
      search,
      searchFields: { state },
      tabs: listTabs({ filter: 'state', current: state, search }, [
        { name: '', label: 'All', count: found.length },
        ...states
          .map((name) => ({
            ...{ name, label: stateBadge(name).state },
            count: found.filter((plugin) => plugin.state === name).length,
          }))
          .filter(({ name, count }) => count > 0 || name === state),
      ]),
      plugins: page.rows.map((plugin) => ({
        ...describePlugin(plugin, { request, findings }),
        fields: { slug: plugin.slug, back },
      })),
      bulkFields: { back },
      bulkOptions: [
        { value: 'activate', label: 'Activate' },
        { value: 'deactivate', label: 'Deactivate' },
      ],
      list: listView(page.state, {
        total: shown.length,
        text: formatCount(shown.length, 'plugin'),
        chips: { s: `Search: ${search}`, state: state === '' ? '' : stateBadge(state).state },
        columns: [{ label: 'Plugin', key: 'name' }, { label: 'Status', key: 'state' }, { label: 'Version' }],
      }),
      mayInstall: request.user.can('install_plugins'),
      needsPassword: !request.isSignInFresh,
    },
  };
}

type Verb = 'activate' | 'deactivate';

/** Back to the list, with an Undo. */
function changed(
  request: AdminRequest,
  { verb, slugs, text }: { readonly verb: Verb; readonly slugs: readonly string[]; readonly text: string },
): AdminActionResult {
  const { query, redirect } = backToList(request, 'plugins', ['s', 'state']);
  const reverse = verb === 'activate' ? 'deactivate' : 'activate';
  const undo = { action: 'bulk', fields: { do: reverse, ids: [...slugs].reverse().join(','), back: query } };
  return { notice: { kind: 'success', text, undo }, redirect };
}

/** Activates or deactivates the checked plugins that are not so yet. Stops at the first that fails. */
async function changeSeveral(plugins: AdminDependencies['plugins'], request: AdminRequest): Promise<AdminActionResult> {
  const verb = (['activate', 'deactivate'] as const).find((name) => name === textField(request.form, 'do'));
  if (verb === undefined) throw notSelected();
  request.requireFreshSignIn();
  const known = new Map((await plugins.list()).map((plugin) => [plugin.slug, plugin]));
  const selected = readTextIds(request).flatMap((slug) => known.get(slug) ?? []);
  const slugs: string[] = [];
  for (const { slug, name, state, mustUse } of selected) {
    if (mustUse || state === (verb === 'activate' ? 'active' : 'inactive')) continue;
    await withPluginError({ request, verb, subject: name }, () => plugins[verb](slug));
    slugs.push(slug);
  }
  const [first] = slugs;
  const done = verb === 'activate' ? 'activated' : 'deactivated';
  if (first === undefined)
    return withNotice('info', `Nothing to do: these plugins are ${done} already.`, {
      redirect: backToList(request, 'plugins', ['s', 'state']).redirect,
    });
  const what = slugs.length === 1 ? (known.get(first)?.name ?? first) : formatCount(slugs.length, 'plugin');
  return changed(request, { verb, slugs, text: `${what} ${done}.` });
}

function requireCapability({ user }: AdminRequest, capability: string): void {
  if (!user.can(capability)) throw restError(403, 'rest_forbidden', 'You are not allowed to do this.');
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
  const needs = Object.entries(plugin.requires)
    .map(([slug, range]) => `${slug} ${range}`)
    .join(', ');
  const health =
    findings?.slug === plugin.slug
      ? { results: findings.results.map((each) => ({ ...each, kind: healthKinds[each.status] })) }
      : null;
  return {
    ...plugin,
    hasNotes:
      plugin.state === 'failed' ||
      Boolean(plugin.lastError) ||
      (plugin.warnings?.length ?? 0) > 0 ||
      needs !== '' ||
      health !== null ||
      plugin.mustUse === true,
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
    health,
    needs,
  };
}
