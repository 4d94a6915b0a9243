import { RestError } from '#plugin-api';
import type {
  AbilitiesApi,
  AbilityCall,
  AbilityDefinition,
  JsonSchema,
  OptionsApi,
  RestApi,
  SiteApi,
  SiteHealthResult,
} from '#plugin-api';

export interface HostAbilitiesDependencies {
  readonly site: SiteApi;
  readonly options: Pick<OptionsApi, 'get'>;
  readonly rest: Pick<RestApi, 'dispatch'>;
  /** Name of the database and its version, without credentials. */
  readonly databaseLabel: string;
  readonly siteHealth: {
    runAll(request: { readonly headers: Readonly<Record<string, string | undefined>> }): Promise<SiteHealthResult[]>;
  };
}

const categories = {
  site: { label: 'Site', description: 'Abilities that retrieve or modify site information and settings.' },
  user: { label: 'User', description: 'Abilities that retrieve or modify user information and settings.' },
  content: { label: 'Content', description: 'Abilities that find, read and write posts and pages.' },
} as const;

const reading = { annotations: { readonly: true, destructive: false, idempotent: true }, public: true } as const;

/** The abilities of the host: WordPress's own, and some for its content and its state. */
export function registerHostAbilities(abilities: AbilitiesApi, given: HostAbilitiesDependencies): void {
  for (const [slug, category] of Object.entries(categories)) abilities.registerCategory(slug, category);
  abilities.register('core/get-site-info', siteInfo(given));
  abilities.register('core/get-user-info', userInfo());
  abilities.register('core/get-environment-info', environmentInfo(given));
  abilities.register('host/site-health', siteHealth(given));
  registerPostAbilities(abilities, given);
}

const text: JsonSchema = { type: 'string' };
type Fields = Readonly<Record<string, readonly [title: string, description: string, schema?: JsonSchema]>>;

/** An ability that returns all fields, or those that are asked for. */
function fieldsAbility(
  fields: Fields,
  definition: Pick<AbilityDefinition, 'label' | 'description' | 'category' | 'permission'>,
  read: (call: AbilityCall) => Promise<Record<string, unknown>>,
): AbilityDefinition<JsonSchema> {
  return {
    ...definition,
    inputSchema: {
      type: 'object',
      properties: {
        fields: {
          type: 'array',
          items: { type: 'string', enum: Object.keys(fields) },
          description: 'Optional: Limit response to specific fields. If omitted, all fields are returned.',
        },
      },
      additionalProperties: false,
      default: {},
    },
    outputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(fields).map(([name, [title, description, schema = text]]) => [
          name,
          { ...schema, title, description },
        ]),
      ),
      additionalProperties: false,
    },
    async execute(input, call) {
      const { fields: wanted } = input as { readonly fields?: readonly string[] };
      const values = Object.entries(await read(call));
      return Object.fromEntries(
        values.filter(([name]) => wanted === undefined || wanted.length === 0 || wanted.includes(name)),
      );
    },
    meta: reading,
  };
}

function siteInfo({ site, options }: HostAbilitiesDependencies): AbilityDefinition<JsonSchema> {
  return fieldsAbility(
    {
      name: ['Site Title', 'The site title.'],
      description: ['Tagline', 'The site tagline.'],
      url: ['Site Address (URL)', 'The public URL where visitors access the site.'],
      wpurl: ['Host Address (URL)', 'The same: the host serves the site.'],
      admin_email: ['Contact', 'How people who cannot sign in reach an administrator.'],
      charset: ['Site Charset', 'The site character encoding.'],
      language: ['Site Language', 'The site locale in dash form (e.g. en-US).'],
      version: ['Host Version', 'The version of the host running this site.'],
    },
    {
      label: 'Get Site Information',
      description:
        'Returns site information configured in the settings. By default returns all fields, or optionally a filtered subset.',
      category: 'site',
      permission: (_input, { user }) => user.can('manage_options'),
    },
    async () => ({
      name: await site.name(),
      description: String((await options.get<unknown>('blogdescription')) ?? ''),
      url: site.url,
      wpurl: site.url,
      admin_email: String((await options.get<unknown>('account_contact')) ?? ''),
      charset: 'UTF-8',
      language: 'en-US',
      version: site.version,
    }),
  );
}

function userInfo(): AbilityDefinition<JsonSchema> {
  return fieldsAbility(
    {
      id: ['User ID', 'Unique identifier for the user.', { type: 'integer' }],
      display_name: ['Display Name', 'Public-facing name selected by the user.'],
      user_nicename: ['User Nicename', 'URL-friendly slug for the user. Defaults to the username.'],
      user_login: ['Username', 'Login identifier for the user. Cannot be changed once set.'],
      roles: [
        'Roles',
        'Roles assigned to the user, such as administrator, editor, author, contributor, or subscriber.',
        { type: 'array', items: { type: 'string' } },
      ],
      locale: ['Language', 'Locale code for the user, such as en_US.'],
      first_name: ['First Name', 'Given name.'],
      last_name: ['Last Name', 'Family name.'],
      nickname: ['Nickname', 'Informal name. Defaults to the username.'],
      description: ['Biographical Info', 'User-authored biography. May be empty.'],
      user_url: ['Website', 'Personal website URL.'],
    },
    {
      label: 'Get User Information',
      description:
        'Returns profile details for the current authenticated user to support personalization, auditing, and access-aware ' +
        'behavior. By default returns all fields, or optionally a filtered subset.',
      category: 'user',
      permission: (_input, { user }) => user.id > 0,
    },
    async ({ user: { id, displayName, login, roles, profile } }) => ({
      id,
      display_name: displayName,
      user_nicename: profile?.slug ?? login,
      user_login: login,
      roles,
      locale: profile?.locale ?? '',
      first_name: profile?.firstName ?? '',
      last_name: profile?.lastName ?? '',
      nickname: profile?.nickname ?? login,
      description: profile?.description ?? '',
      user_url: profile?.url ?? '',
    }),
  );
}

function environmentInfo({ site, databaseLabel }: HostAbilitiesDependencies): AbilityDefinition<JsonSchema> {
  return fieldsAbility(
    {
      environment: ['Environment Type', "The site's runtime environment classification."],
      node_version: ['Node.js Version', 'The version of Node.js that runs the host.'],
      db_server_info: ['Database', 'The database server vendor and version.'],
      wp_version: ['Host Version', 'The version of the host running this site.'],
    },
    {
      label: 'Get Environment Info',
      description:
        "Returns core details about the site's runtime context for diagnostics and compatibility (environment, Node.js, database, " +
        'host version). By default returns all fields, or optionally a filtered subset.',
      category: 'site',
      permission: (_input, { user }) => user.can('manage_options'),
    },
    async () => ({
      environment: 'production',
      node_version: process.versions.node,
      db_server_info: databaseLabel,
      wp_version: site.version,
    }),
  );
}

function siteHealth({ siteHealth: health }: HostAbilitiesDependencies): AbilityDefinition {
  return {
    label: 'Check site health',
    description: 'Runs the Site Health tests of the host and of its plugins, and returns the results, the worst first.',
    category: 'site',
    outputSchema: {
      type: 'object',
      properties: {
        results: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              test: { type: 'string' },
              label: { type: 'string' },
              status: { type: 'string', enum: ['good', 'recommended', 'critical'] },
              description: { type: 'string', description: 'HTML.' },
            },
            required: ['test', 'label', 'status', 'description'],
          },
        },
      },
      required: ['results'],
    },
    permission: (_input, { user }) => user.can('view_site_health_checks'),
    execute: async () => ({
      results: (await health.runAll({ headers: {} })).map(({ test, label, status, description }) => ({
        test,
        label,
        status,
        description,
      })),
    }),
    meta: { annotations: { readonly: true, destructive: false, idempotent: false }, public: true },
  };
}

const typeSchema = {
  type: 'string',
  enum: ['post', 'page'],
  default: 'post',
  description: 'Posts or pages.',
} as const;
const idSchema = { type: 'integer', minimum: 1, maximum: 2_147_483_647, description: 'Id of the post.' } as const;
const itemProperties = {
  id: { type: 'integer' },
  type: { type: 'string' },
  status: { type: 'string' },
  title: { type: 'string', description: 'HTML.' },
  link: { type: 'string' },
  date: { type: 'string', description: 'UTC, ISO 8601.' },
  modified: { type: 'string', description: 'UTC, ISO 8601.' },
  author: { type: 'integer', description: 'Id of the user.' },
  excerpt: { type: 'string', description: 'HTML.' },
} as const satisfies Record<string, JsonSchema>;
const itemSchema = { type: 'object', properties: itemProperties, required: ['id', 'title', 'status'] } as const;
const postSchema = {
  type: 'object',
  properties: { ...itemProperties, content: { type: 'string', description: 'HTML.' } },
  required: ['id', 'title', 'status', 'content'],
} as const;

/** They run the routes of `wp/v2` for the user, so that both have the same permissions and the same hooks. */
function registerPostAbilities(abilities: AbilitiesApi, { rest }: HostAbilitiesDependencies): void {
  const send = createSend(rest);
  abilities.register('host/list-posts', {
    label: 'List posts',
    description: 'Finds posts or pages by words, status and author, newest first. Returns published ones by default.',
    category: 'content',
    inputSchema: {
      type: 'object',
      properties: {
        type: typeSchema,
        search: { type: 'string', maxLength: 200, description: 'Words that must all occur.' },
        status: {
          type: 'string',
          enum: ['publish', 'draft', 'pending', 'private', 'future', 'any'],
          default: 'publish',
        },
        author: { type: 'integer', minimum: 1, maximum: 2_147_483_647, description: 'Id of the user.' },
        page: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1 },
        per_page: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
      },
      additionalProperties: false,
      default: {},
    },
    outputSchema: {
      type: 'object',
      properties: { total: { type: 'integer' }, posts: { type: 'array', items: itemSchema } },
      required: ['total', 'posts'],
    },
    permission: () => true,
    async execute({ type = 'post', ...query }, call) {
      const response = await send(`/wp/v2/${type}s`, { query }, call);
      const posts = (response.body as RestPost[]).map((post) => toItem(post));
      return { total: Number(response.headers['X-WP-Total']), posts };
    },
    meta: reading,
  });
  abilities.register('host/read-post', {
    label: 'Read post',
    description: 'Returns one post or page with its rendered content.',
    category: 'content',
    inputSchema: {
      type: 'object',
      properties: { id: idSchema, type: typeSchema },
      required: ['id'],
      additionalProperties: false,
    },
    outputSchema: postSchema,
    permission: () => true,
    execute: async ({ id, type = 'post' }, call) =>
      toPost((await send(`/wp/v2/${type}s/${id}`, {}, call)).body as RestPost),
    meta: reading,
  });
  registerPostWrites(abilities, send);
}

function registerPostWrites(abilities: AbilitiesApi, send: Send): void {
  abilities.register('host/create-draft', {
    label: 'Create draft',
    description: 'Creates a draft of a post or page. Readers see it only after a person publishes it.',
    category: 'content',
    inputSchema: {
      type: 'object',
      properties: {
        type: typeSchema,
        title: { type: 'string', minLength: 1, maxLength: 1_000, description: 'Plain text.' },
        content: { type: 'string', maxLength: 1_000_000, description: 'HTML.', ui: { widget: 'textarea', rows: 8 } },
        excerpt: { type: 'string', maxLength: 10_000, description: 'HTML.' },
      },
      required: ['title'],
      additionalProperties: false,
    },
    outputSchema: postSchema,
    permission: ({ type = 'post' }, { user }) => user.can(type === 'page' ? 'edit_pages' : 'edit_posts'),
    execute: async ({ type = 'post', ...fields }, call) =>
      toPost(
        (await send(`/wp/v2/${type}s`, { method: 'POST', json: { ...fields, status: 'draft' } }, call))
          .body as RestPost,
      ),
    meta: { annotations: { readonly: false, destructive: false, idempotent: false }, public: true },
  });
  abilities.register('host/trash-post', {
    label: 'Move post to trash',
    description: 'Moves a post or page to the trash, where it can be restored.',
    category: 'content',
    inputSchema: {
      type: 'object',
      properties: { id: idSchema, type: typeSchema },
      required: ['id'],
      additionalProperties: false,
    },
    outputSchema: itemSchema,
    permission: (_input, { user }) => user.can('delete_posts') || user.can('delete_pages'),
    execute: async ({ id, type = 'post' }, call) =>
      toItem((await send(`/wp/v2/${type}s/${id}`, { method: 'DELETE' }, call)).body as RestPost),
    meta: { annotations: { readonly: false, destructive: true, idempotent: false }, public: true },
  });
}

type Send = ReturnType<typeof createSend>;

/** Runs a route for the caller of an ability. */
function createSend(rest: HostAbilitiesDependencies['rest']) {
  return async (
    route: string,
    init: { readonly method?: 'POST' | 'DELETE'; readonly query?: object; readonly json?: unknown },
    { user, signal }: AbilityCall,
  ) => {
    const response = await rest.dispatch(route, { ...init, query: { ...init.query }, user, signal });
    if (response.status < 400) return response;
    const { code, message, data } = response.body as { code: string; message: string; data: unknown };
    throw new RestError({ code, message, status: response.status, data });
  };
}

interface RestPost {
  readonly id: number;
  readonly type: string;
  readonly status: string;
  readonly link: string;
  readonly author?: number;
  readonly date_gmt: string | null;
  readonly modified_gmt: string;
  readonly title: { readonly rendered: string };
  readonly content: { readonly rendered: string };
  readonly excerpt?: { readonly rendered: string };
}

function toItem(post: RestPost): Record<string, unknown> {
  const { id, type, status, link, author, date_gmt, modified_gmt, title, excerpt } = post;
  return {
    id,
    type,
    status,
    title: title.rendered,
    link,
    date: `${date_gmt ?? modified_gmt}Z`,
    modified: `${modified_gmt}Z`,
    ...(author !== undefined && { author }),
    ...(excerpt !== undefined && { excerpt: excerpt.rendered }),
  };
}

function toPost(post: RestPost): Record<string, unknown> {
  return { ...toItem(post), content: post.content.rendered };
}
