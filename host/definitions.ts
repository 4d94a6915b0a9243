import type {
  AbilityCategoryDefinition,
  AbilityDefinition,
  AdminMenuGroup,
  AdminNoticeDefinition,
  AdminPage,
  CliCommand,
  JobDefinition,
  HttpMethod,
  JsonSchema,
  LazyAdminPage,
  MetaDefinition,
  PostStatusDefinition,
  PostSupport,
  PostTypeDefinition,
  PublicPage,
  RestField,
  Role,
  RouteArgument,
  RouteDefinition,
  SearchHandler,
  SettingDefinition,
  SetupChoice,
  TaxonomyDefinition,
} from '#plugin-api';

/** What a member holds. `schemas` and `functions` are objects of them by name. */
export type Kind =
  'text' | 'number' | 'switch' | 'list' | 'object' | 'function' | 'schema' | 'schemas' | 'functions' | 'any';

/** `!`: without it the definition does not work, or people miss something. An array: a list of some of these. */
export type MemberKind = Kind | `${Kind}!` | readonly string[];

/** Every member of a definition, as the compiler requires. */
type Members<Definition> = { readonly [Name in keyof Definition]-?: MemberKind };

/** What a registration takes. */
export interface Shape {
  /** Service and method, such as `admin.addPage`. */
  readonly call: string;
  /** Index of the definition among the arguments. */
  readonly argument: number;
  /** Null: the argument is a function. */
  readonly members: Readonly<Record<string, MemberKind>> | null;
  /** Members of which a definition needs one. */
  readonly oneOf?: readonly string[];
}

/** Typed by the contracts: a member that is added to one needs its kind here. */
function shape<Definition>(call: string, argument: number, members: Members<Definition>): Shape {
  return { call, argument, members: members as Shape['members'] };
}

const callback = (call: string, argument: number): Shape => ({ call, argument, members: null });

const job: Members<JobDefinition> = {
  ...{ name: 'text!', label: 'text', schema: 'schema', attempts: 'any', backoff: 'any', concurrency: 'any' },
  ...{ timeout: 'number', keep: 'number', run: 'function', failed: 'function', postponed: 'function' },
} as const;

const methods: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const supports: readonly PostSupport[] = [
  ...(['title', 'editor', 'excerpt', 'author', 'thumbnail', 'revisions', 'page-attributes', 'custom-fields'] as const),
  'comments',
];

/** By the name of the method of the host. */
export const shapes: Readonly<Record<string, Shape>> = {
  registerSetting: shape<SettingDefinition>('options.registerSetting', 1, {
    ...{ group: 'text!', schema: 'schema!', label: 'text', showInRest: 'any' },
  }),
  registerRoute: shape<RouteDefinition>('rest.registerRoute', 2, {
    ...{ methods, args: 'schemas', authenticate: 'function', hasOwnKey: 'switch', permission: 'function' },
    ...{ validate: 'function', handler: 'function!', schema: 'schema', allowBatch: 'switch', showInIndex: 'switch' },
    ...{ override: 'switch', allowOrigin: 'function', permissionBeforeBody: 'function', bodyLimit: 'any' },
    ...{ anonymousBodyLimit: 'any', parsedBodyLimit: 'any', errorBody: 'function', errorSchema: 'object' },
    ...{ requestIdHeader: 'text' },
    ...{ summary: 'text', description: 'text', tags: 'list', security: 'list', consumes: 'list', responses: 'object' },
  }),
  define: shape<JobDefinition>('jobs.define', 0, job),
  every: shape<JobDefinition>('jobs.every', 1, { ...job, run: 'function!' }),
  register: shape<AbilityDefinition>('abilities.register', 1, {
    ...{ label: 'text!', description: 'text!', category: 'text!', inputSchema: 'schema', outputSchema: 'schema' },
    ...{ permission: 'function!', execute: 'function!', meta: 'object' },
  }),
  registerCategory: shape<AbilityCategoryDefinition>('abilities.registerCategory', 1, {
    ...{ label: 'text!', description: 'text!', meta: 'object' },
  }),
  addPage: {
    ...shape<AdminPage & LazyAdminPage>('admin.addPage', 0, {
      ...{ slug: 'text!', title: 'text!', menu: 'text', parent: 'text', group: 'text', icon: 'text' },
      ...{ position: 'number', capability: 'text', uploadLimit: 'number', script: 'text', style: 'text' },
      ...{ render: 'function', actions: 'functions', body: 'function' },
    }),
    oneOf: ['render', 'body'],
  },
  addMenuGroup: shape<AdminMenuGroup>('admin.addMenuGroup', 0, {
    ...{ id: 'text!', title: 'text!', icon: 'text!', position: 'number' },
  }),
  addBadge: callback('admin.addBadge', 0),
  addNotice: shape<AdminNoticeDefinition>('admin.addNotice', 0, {
    capability: 'text',
    pages: 'list',
    show: 'function!',
  }),
  addSetupChoice: shape<SetupChoice>('admin.addSetupChoice', 0, {
    ...{ id: 'text!', label: 'text!', description: 'text!', available: 'function', choose: 'function!' },
    position: 'number',
  }),
  addCommand: shape<CliCommand>('cli.addCommand', 0, {
    ...{ name: 'text!', description: 'text!', args: 'list', flags: 'schemas', result: 'any', ifEmpty: 'text' },
    run: 'function!',
  }),
  addCommands: callback('cli.addCommands', 0),
  addRole: shape<Role>('users.addRole', 0, { name: 'text!', label: 'text!', capabilities: 'any' }),
  registerPostType: shape<PostTypeDefinition>('content.registerPostType', 1, {
    ...{ label: 'text!', singularLabel: 'text!', description: 'text', public: 'switch', hierarchical: 'switch' },
    ...{ supports, capabilityType: 'any', rewriteSlug: 'text', showInRest: 'switch', restBase: 'text' },
    showInAdmin: 'switch',
  }),
  registerPostStatus: shape<PostStatusDefinition>('content.registerPostStatus', 1, {
    ...{ label: 'text!', public: 'switch', private: 'switch', protected: 'switch', internal: 'switch' },
  }),
  registerMeta: shape<MetaDefinition>('content.registerMeta', 2, {
    ...{ schema: 'schema!', single: 'switch', default: 'any', description: 'text', editor: 'object' },
    ...{ showInRest: 'switch', authorize: 'function' },
  }),
  registerTaxonomy: shape<TaxonomyDefinition>('content.registerTaxonomy', 1, {
    ...{ label: 'text!', singularLabel: 'text!', description: 'text', types: 'list!', hierarchical: 'switch' },
    ...{ public: 'switch', rewriteSlug: 'text', showInRest: 'switch', restBase: 'text', showInAdmin: 'switch' },
    ...{ capabilities: 'object', labels: 'object' },
  }),
  registerRestField: shape<RestField>('content.registerRestField', 2, {
    ...{ get: 'function', update: 'function', schema: 'schema', argument: 'object' },
  }),
  registerSearchHandler: shape<SearchHandler>('content.registerSearchHandler', 1, {
    subtypes: 'function!',
    find: 'function!',
  }),
  addShortcode: callback('content.addShortcode', 1),
  addHelper: callback('views.addHelper', 1),
  add: callback('metrics.add', 0),
  addPublicPage: shape<PublicPage>('site.addPage', 0, {
    ...{ path: 'text!', title: 'text!', description: 'text', render: 'function!', style: 'text', script: 'text' },
  }),
};

const keywords: Members<JsonSchema & RouteArgument> = {
  ...{ type: 'any', title: 'any', description: 'any', default: 'any', examples: 'any', enum: 'any', const: 'any' },
  ...{ format: 'any', pattern: 'any', minLength: 'any', maxLength: 'any', minimum: 'any', maximum: 'any' },
  ...{ exclusiveMinimum: 'any', exclusiveMaximum: 'any', multipleOf: 'any', items: 'any', minItems: 'any' },
  ...{ maxItems: 'any', uniqueItems: 'any', properties: 'any', patternProperties: 'any', anyOf: 'any', oneOf: 'any' },
  ...{ additionalProperties: 'any', minProperties: 'any', maxProperties: 'any', required: 'any', readOnly: 'any' },
  ...{ writeOnly: 'any', context: 'any', openApi: 'any', ui: 'any', rule: 'any', discriminator: 'any' },
  ...{ validate: 'any', sanitize: 'any', acceptsNull: 'any' },
};

/** Members of a schema, as forms, checks and routes read them. */
export const schemaKeywords: readonly string[] = Object.keys(keywords);
