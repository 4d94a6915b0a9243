import {
  argumentBounds,
  currentPasswordArgument,
  collectionArguments,
  contextArgument,
  errorText,
  escapeHtml,
  membersIn,
  readOnlyIn,
  RestError,
  restError,
  RestResponse,
} from '#plugin-api';
import type { JsonSchema, RestApi, RestRequest, RouteArgument, RouteDefinition, User } from '#plugin-api';
import type { PluginStatus } from './status.ts';

export interface PluginsRoutesDependencies {
  /** Known only once the plugins are loaded. */
  readonly plugins: () => {
    list(): readonly PluginStatus[];
    activate(slug: string): Promise<void>;
    deactivate(slug: string): Promise<void>;
    uninstall(slug: string, init: { readonly onlyWithFolder: true }): Promise<unknown>;
  };
}

/** Folder and entry module without extension, as WordPress names plugins; the folder alone for `index`. */
const namePattern = '[^.\\/]+(?:\\/[^.\\/]+)?';

const statusSchema = {
  description: 'The plugin activation status.',
  type: 'string',
  enum: ['inactive', 'active'],
} as const satisfies JsonSchema;

const schema: JsonSchema = {
  title: 'plugin',
  type: 'object',
  properties: {
    ...membersIn('everywhere', { status: statusSchema }),
    ...readOnlyIn('everywhere', {
      plugin: { description: 'The plugin file.', type: 'string', pattern: namePattern },
      name: { description: 'The plugin name.', type: 'string' },
      network_only: { description: 'Whether the plugin can only be activated network-wide.', type: 'boolean' },
      requires_wp: { description: 'Minimum required version of WordPress.', type: 'string' },
      requires_php: { description: 'Minimum required version of PHP.', type: 'string' },
    }),
    ...readOnlyIn('shown', {
      plugin_uri: { description: "The plugin's website address.", type: 'string', format: 'uri' },
      author: { description: 'The plugin author.', type: 'string' },
      author_uri: { description: "Plugin author's website address.", type: 'string', format: 'uri' },
      description: {
        description: 'The plugin description.',
        type: 'object',
        properties: {
          raw: { description: 'The raw plugin description.', type: 'string' },
          rendered: { description: 'The plugin description formatted for display.', type: 'string' },
        },
      },
      version: { description: 'The plugin version number.', type: 'string' },
      textdomain: { description: "The plugin's text domain.", type: 'string' },
      failure: { description: 'Why an active plugin does not run here; left out while it runs.', type: 'string' },
    }),
  },
};

const pluginArguments: Readonly<Record<string, RouteArgument>> = {
  context: contextArgument,
  plugin: { type: 'string', ...argumentBounds.key, pattern: namePattern },
};

function refused(user: User, code: string, message = 'Sorry, you are not allowed to manage plugins for this site.') {
  return restError(user.id === 0 ? 401 : 403, code, message);
}

/**
 * `/wp/v2/plugins` in the shapes of WordPress: list, read, activate, deactivate and delete. `requires_wp` is the range of host
 * versions. There is no directory to install from, so POST of a slug fails as in a WordPress that does not reach its own.
 */
export function addPluginsRoutes(rest: RestApi, given: PluginsRoutesDependencies): void {
  rest.registerRoute('wp/v2', '/plugins', [listRoute(rest, given), installRoute()]);
  rest.registerRoute('wp/v2', `/plugins/(?P<plugin>${namePattern})`, [
    readRoute(rest, given),
    updateRoute(rest, given),
    deleteRoute(rest, given),
  ]);
}

function listRoute(rest: RestApi, { plugins }: PluginsRoutesDependencies): RouteDefinition {
  return {
    args: {
      context: contextArgument,
      search: collectionArguments.search,
      status: {
        description: 'Limits results to plugins with the given status.',
        type: 'array',
        ...argumentBounds.list,
        items: { type: 'string', enum: ['inactive', 'active'] },
      },
    },
    schema,
    summary: 'Lists plugins.',
    permission: ({ user }) => user.can('activate_plugins') || refused(user, 'rest_cannot_view_plugins'),
    handler: ({ params, query }) => {
      const search = String(params['search'] ?? '').toLowerCase();
      const statuses = params['status'] as readonly string[] | undefined;
      const fields = query['_fields'];
      const hasLinks = fields === undefined || /(^|,)\s*_links/.test([fields].flat().join());
      return plugins()
        .list()
        .map(toBody)
        .filter(({ name, description, author, status }) => {
          const text = `${name}\n${description.raw}\n${author}`.toLowerCase();
          return text.includes(search) && (statuses === undefined || statuses.includes(status));
        })
        .map((body) => ({ ...body, ...(hasLinks && { _links: { self: [selfLink(rest, body)] } }) }));
    },
  };
}

function installRoute(): RouteDefinition {
  return {
    methods: ['POST'],
    args: {
      slug: {
        type: 'string',
        ...argumentBounds.line,
        required: true,
        description: 'WordPress.org plugin directory slug.',
      },
      status: { ...statusSchema, default: 'inactive' },
    },
    schema,
    summary: 'Refuses to install a plugin: this host has no plugin directory.',
    permission: ({ user }) =>
      user.can('install_plugins') ||
      refused(user, 'rest_cannot_install_plugin', 'Sorry, you are not allowed to install plugins on this site.'),
    handler: () =>
      restError(
        500,
        'plugins_api_failed',
        'This site has no plugin directory. Upload the zip file of the plugin on the page Plugins, or use the command plugin install.',
      ),
  };
}

/** Finds the plugin of a request by its slug, with or without the name of the entry module. */
function find({ plugins }: PluginsRoutesDependencies, { params }: Pick<RestRequest, 'params'>): PluginStatus {
  const wanted = String(params['plugin']);
  const found = plugins()
    .list()
    .find((plugin) => plugin.slug === wanted || nameOf(plugin) === wanted);
  if (found === undefined) throw restError(404, 'rest_plugin_not_found', 'Plugin not found.');
  return found;
}

function mayManage(given: PluginsRoutesDependencies, code: string, capability = 'activate_plugins') {
  return (request: Pick<RestRequest, 'params' | 'user'>): true | RestError => {
    if (!request.user.can('activate_plugins') || !request.user.can(capability)) return refused(request.user, code);
    find(given, request);
    return true;
  };
}

function readRoute(rest: RestApi, given: PluginsRoutesDependencies): RouteDefinition {
  return {
    args: pluginArguments,
    schema,
    summary: 'Reads a plugin.',
    permission: mayManage(given, 'rest_cannot_view_plugin'),
    handler: (request) => respond(rest, find(given, request)),
  };
}

function updateRoute(rest: RestApi, given: PluginsRoutesDependencies): RouteDefinition {
  return {
    methods: ['POST', 'PUT', 'PATCH'],
    args: { ...pluginArguments, status: statusSchema, current_password: currentPasswordArgument },
    summary: 'Activates or deactivates a plugin.',
    permission: mayManage(given, 'rest_cannot_manage_plugins'),
    async handler(request) {
      const plugin = find(given, request);
      const wanted = request.params['status'];
      await request.requireFreshSignIn();
      if (wanted === 'active' && plugin.state !== 'active')
        await withReason('plugin_activation_failed', () => given.plugins().activate(plugin.slug));
      if (wanted === 'inactive' && plugin.state !== 'inactive')
        await withReason('plugin_deactivation_failed', () => given.plugins().deactivate(plugin.slug));
      return respond(rest, find(given, request));
    },
  };
}

/** The loader's sentences are meant for administrators. */
async function withReason<Result>(code: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new RestError({ code, message: errorText(error), status: 400, cause: error });
  }
}

function deleteRoute(rest: RestApi, given: PluginsRoutesDependencies): RouteDefinition {
  return {
    methods: ['DELETE'],
    args: { ...pluginArguments, current_password: currentPasswordArgument },
    summary: 'Deletes an inactive plugin with its data and its files.',
    responses: {
      200: {
        description: 'The deleted plugin.',
        schema: {
          type: 'object',
          properties: { deleted: { type: 'boolean', required: true }, previous: { ...schema, required: true } },
        },
      },
    },
    permission: mayManage(given, 'rest_cannot_manage_plugins', 'delete_plugins'),
    async handler(request) {
      const plugin = find(given, request);
      if (plugin.state === 'active')
        throw restError(
          400,
          'rest_cannot_delete_active_plugin',
          'Cannot delete an active plugin. Please deactivate it first.',
        );
      if (plugin.shipped || plugin.mustUse)
        throw restError(
          400,
          'rest_cannot_delete_plugin',
          'This plugin is a part of the host, or always active, and cannot be deleted.',
        );
      await request.requireFreshSignIn();
      await withReason('plugin_deletion_failed', () =>
        given.plugins().uninstall(plugin.slug, { onlyWithFolder: true }),
      );
      return new RestResponse({ body: { deleted: true, previous: toBody(plugin) } });
    },
  };
}

function respond(rest: RestApi, plugin: PluginStatus): RestResponse {
  const body = toBody(plugin);
  return new RestResponse({ body, links: { self: [selfLink(rest, body)] } });
}

function selfLink(rest: RestApi, { plugin }: { readonly plugin: string }) {
  return {
    href: rest.url(`/wp/v2/plugins/${plugin}`),
    targetHints: { allow: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
  };
}

function nameOf({ slug, main }: Pick<PluginStatus, 'slug' | 'main'>): string {
  const entry = (main.split('/').at(-1) ?? '').replace(/\.\w+$/, '');
  return entry === '' || entry === 'index' || entry.includes('.') ? slug : `${slug}/${entry}`;
}

function toBody(plugin: PluginStatus) {
  const { name: author = '', url = '' } = plugin.author ?? {};
  const raw = plugin.description.replace(/<[^<>]*>/g, '');
  const by = url === '' ? escapeHtml(author) : `<a href="${escapeHtml(url)}">${escapeHtml(author)}</a>`;
  return {
    plugin: nameOf(plugin),
    status: plugin.state === 'active' ? 'active' : 'inactive',
    name: plugin.name,
    plugin_uri: plugin.homepage,
    author,
    author_uri: url,
    description: { raw, rendered: escapeHtml(raw) + (author === '' ? '' : ` <cite>By ${by}.</cite>`) },
    version: plugin.version,
    network_only: false,
    requires_wp: plugin.host,
    requires_php: '',
    textdomain: plugin.slug,
    ...(plugin.failure && { failure: `${plugin.failure.stage}: ${plugin.failure.message}` }),
  };
}
