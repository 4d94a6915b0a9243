import type { IForbiddenRuleType } from 'dependency-cruiser';

// Packages, node's own modules, and what could not be resolved, which has a rule of its own.
const outside = '^node_modules/|^(node:)?[a-z0-9_/]+$|^\\.';
const vendorSdks = 'node_modules/(openai|@anthropic-ai|@google/genai|@qdrant|chromadb|@pinecone-database)/';
const hostFolders = [
  'abilities',
  'admin',
  'content',
  'cron',
  'documents',
  'http',
  'hooks',
  'jobs',
  'loader',
  'log',
  'mail',
  'options',
  'pages',
  'rest',
  'secrets',
  'security-log',
  'users',
  'views',
];

/** A folder may import only itself, the plugin API and what is listed; packages are governed by rules of their own. */
function only(name: string, from: string, allowed: readonly string[] = []): IForbiddenRuleType {
  return {
    name,
    severity: 'error',
    from: { path: from },
    to: { pathNot: [outside, '^host/plugin-api/', from, ...allowed] },
  };
}

const rules: readonly IForbiddenRuleType[] = [
  {
    name: 'no cycles',
    severity: 'error',
    from: {},
    // The check of a plugin is a command of a host and starts another host, when it runs.
    to: {
      circular: true,
      viaOnly: { dependencyTypesNot: ['type-only'], pathNot: '^host/authoring/check-run\\.ts$' },
    },
  },
  // Browsers resolve the imports of assets, by the URL of their folder.
  {
    name: 'no unresolvable imports',
    severity: 'error',
    from: { pathNot: '/assets/[^/]+\\.js$' },
    to: { couldNotResolve: true },
  },
  only('plugin-api imports itself alone', '^host/plugin-api/'),
  {
    name: 'the files of plugin-api only through #plugin-api',
    severity: 'error',
    from: { pathNot: '^host/plugin-api/' },
    to: { path: '^host/plugin-api/(?!index\\.ts$)' },
  },
  only('host/sources imports itself, #plugin-api, the check of Node', '^host/sources/', ['^host/runtime\\.js$']),
  ...hostFolders.map((folder) =>
    only(`host/${folder} imports itself, #plugin-api, database, log`, `^host/${folder}/`, [
      '^host/database/',
      '^host/log/',
      // Knows the files and modules of a plugin.
      ...(folder === 'loader' ? ['^host/sources/'] : []),
    ]),
  ),
  only('host/database imports itself, log', '^host/database/', ['^host/log/']),
  only('providers import themselves and kit', '^plugins/svc/providers/', ['^plugins/svc/(providers|kit)/']),
  only('vector stores import themselves and kit', '^plugins/svc/vector-stores/', ['^plugins/svc/(vector-stores|kit)/']),
  only('kit imports itself', '^plugins/svc/kit/'),
  only('admin-ui imports itself, settings, kit', '^plugins/svc/admin-ui/', ['^plugins/svc/(settings|kit)/']),
  only('settings import themselves, providers, vector stores, admin-ui, kit', '^plugins/svc/settings/', [
    '^plugins/svc/(providers|vector-stores|admin-ui|kit)/',
  ]),
  only('ai imports providers, vector stores, settings, kit', '^plugins/svc/ai/', [
    '^plugins/svc/(ai|providers|vector-stores|settings|kit)/',
  ]),
  {
    name: 'budgets, failover, usage, prices and knowledge have their own rooms',
    severity: 'error',
    from: {},
    to: { path: '^plugins/svc/(ai|settings)/.*(budget|failover|usage|price|knowledge)' },
  },
  only('webhooks import themselves, settings, admin-ui, kit', '^plugins/svc/webhooks/', [
    '^plugins/svc/(settings|admin-ui|kit)/',
  ]),
  {
    name: 'modules import themselves, ai, settings, admin-ui, kit, ports',
    severity: 'error',
    from: { path: '^plugins/svc/modules/([^/]+)/' },
    to: {
      pathNot: [
        outside,
        '^host/plugin-api/',
        '^plugins/svc/modules/$1/',
        '^plugins/svc/(ai|settings|kit|admin-ui)/',
        '^plugins/svc/ports\\.ts$',
      ],
    },
  },
  only('the service imports itself', '^plugins/svc/[^/]+$', ['^plugins/svc/']),
  {
    name: 'any other plugin imports itself',
    severity: 'error',
    from: { path: '^plugins/([^/]+)/', pathNot: '^plugins/(svc/|[^/]+/tests/)' },
    to: { pathNot: [outside, '^host/plugin-api/', '^plugins/$1/'] },
  },
  {
    name: 'express only in http, admin, rest',
    severity: 'error',
    from: { path: '^(host|plugins)/', pathNot: '^host/(http|admin|rest)/' },
    to: { path: 'node_modules/express/' },
  },
  {
    name: 'knex and drivers only in database (their types also in plugin-api)',
    severity: 'error',
    from: { path: '^(host|plugins)/', pathNot: '^host/database/' },
    to: { path: 'node_modules/(knex|better-sqlite3|pg)/', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'parsers of documents only in readers, which run in threads',
    severity: 'error',
    // The HTML of posts is parsed in one pass, or refused if it nests too deep. Pages of the admin come from templates.
    from: {
      path: '^(host|plugins)/',
      pathNot:
        '\\.reader\\.ts$|^host/plugin-api/html-tags\\.ts$|^host/content/html/sanitize\\.ts$|^host/admin/shown-forms\\.ts$',
    },
    to: {
      path: 'node_modules/(@mozilla/readability|file-type|htmlparser2|image-size|linkedom|postal-mime|unpdf|yauzl)/',
      dependencyTypesNot: ['type-only'],
    },
  },
  {
    name: 'readers only in readers',
    severity: 'error',
    from: { path: '^(host|plugins)/', pathNot: '\\.reader\\.ts$' },
    to: { path: '\\.reader\\.ts$', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'vendor SDKs only in providers and vector stores',
    severity: 'error',
    from: { path: '^(host|plugins)/', pathNot: '^plugins/svc/(providers|vector-stores)/' },
    to: { path: vendorSdks },
  },
  {
    name: 'plugins come in by the door',
    severity: 'error',
    from: { path: '^plugins/' },
    to: { path: '^host/', pathNot: '^host/(plugin-api|testing)/index\\.ts$' },
  },
  {
    name: 'the product imports no tests',
    severity: 'error',
    from: { path: '^(host|plugins)/' },
    to: { path: '^tests/', pathNot: '^tests/fixtures/breaches/' },
  },
  {
    name: 'the product imports no development packages',
    severity: 'error',
    // The commands for authors of plugins load the compiler and the browser when they run, and say so if one is not installed.
    from: { path: '^(host|plugins)/', pathNot: '^host/(authoring/|testing/accessibility\\.ts$)' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
];

/** The import rules of the design, one list, for the tree below `root` (empty, or a path that ends with a slash). */
export function boundaries(root: string): IForbiddenRuleType[] {
  return JSON.parse(
    JSON.stringify(rules)
      .replaceAll('^host', `^${root}host`)
      .replaceAll('^(host', `^${root}(host`)
      .replaceAll('^plugins', `^${root}plugins`),
  ) as IForbiddenRuleType[];
}
