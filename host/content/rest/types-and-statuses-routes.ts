import type { JsonSchema, Params, PostStatus, PostType, RestLink, RouteDefinition, User } from '#plugin-api';
import { argumentBounds, contextArgument, membersIn, restError, RestResponse, wantsLinks } from '#plugin-api';
import { taxonomiesOf } from '../taxonomies/taxonomies.ts';
import { compactLinks, refused, type ContentRestDependencies, type Request } from './context.ts';
import { publicReadSecurity } from './context.ts';

const typeSchema: JsonSchema = {
  title: 'type',
  type: 'object',
  properties: {
    ...membersIn('everywhere', {
      name: { type: 'string' },
      slug: { type: 'string' },
      rest_base: { type: 'string' },
      rest_namespace: { type: 'string' },
    }),
    ...membersIn('shown', {
      description: { type: 'string' },
      hierarchical: { type: 'boolean' },
      taxonomies: { type: 'array', items: { type: 'string' } },
    }),
    ...membersIn('edit', {
      capabilities: { type: 'object' },
      viewable: { type: 'boolean' },
      labels: { type: 'object' },
      supports: { type: 'object' },
    }),
  },
};

/** `/wp/v2/types`: the post types that REST exposes. */
export function addTypesRoutes({ rest, parts }: ContentRestDependencies): void {
  const { types } = parts;
  const mayEdit = ({ user }: { user: User }, type: PostType): boolean => user.can(type.capabilities.edit_posts);
  const shown = (): PostType[] => types.all().filter((type) => type.showInRest);
  const links = (type: PostType): Record<string, RestLink[]> => ({
    collection: [{ href: rest.url('/wp/v2/types') }],
    'https://api.w.org/items': [{ href: rest.url(`/wp/v2/${type.restBase}`) }],
  });
  const list: RouteDefinition = {
    args: { context: contextArgument },
    schema: typeSchema,
    summary: 'Lists post types.',
    security: publicReadSecurity,
    responses: {
      200: { description: 'The items by name.', schema: { type: 'object', additionalProperties: typeSchema } },
    },
    permission: (request) => {
      if (request.params['context'] !== 'edit' || shown().some((type) => mayEdit(request, type))) return true;
      return refused(request, 'rest_cannot_view', 'Sorry, you are not allowed to edit posts in this post type.');
    },
    handler: (request) => {
      const visible = shown().filter((type) => request.params['context'] !== 'edit' || mayEdit(request, type));
      return Object.fromEntries(
        visible.map((type) => [type.name, withLinks(request, typeBody(type, request, parts), links(type))]),
      );
    },
  };
  const one: RouteDefinition = {
    args: {
      type: { type: 'string', ...argumentBounds.key, description: 'An alphanumeric identifier for the post type.' },
      context: contextArgument,
    },
    schema: typeSchema,
    summary: 'Reads a post type.',
    security: publicReadSecurity,
    permission: () => true,
    handler: (request) => {
      const type = types.get(String(request.params['type']));
      if (type === undefined) return restError(404, 'rest_type_invalid', 'Invalid post type.');
      if (!type.showInRest) return refused(request, 'rest_cannot_read_type', 'Cannot view post type.');
      if (request.params['context'] === 'edit' && !mayEdit(request, type))
        return refused(
          request,
          'rest_forbidden_context',
          'Sorry, you are not allowed to edit posts in this post type.',
        );
      return new RestResponse({
        body: typeBody(type, request, parts),
        ...(wantsLinks(request) && { links: links(type) }),
      });
    },
  };
  rest.registerRoute('wp/v2', '/types', list);
  rest.registerRoute('wp/v2', '/types/(?P<type>[\\w-]+)', one);
}

function typeBody(type: PostType, request: Request, { taxonomies }: ContentRestDependencies['parts']): Params {
  const body = {
    capabilities: type.capabilities,
    description: type.description,
    hierarchical: type.hierarchical,
    viewable: type.public,
    labels: { name: type.label, singular_name: type.singularLabel },
    name: type.label,
    slug: type.name,
    supports: Object.fromEntries(type.supports.map((support) => [support, true])),
    taxonomies: taxonomiesOf(taxonomies, type.name).map(({ name }) => name),
    rest_base: type.restBase,
    rest_namespace: 'wp/v2',
  };
  return pick(body, typeSchema, request);
}

const statusSchema: JsonSchema = {
  title: 'status',
  type: 'object',
  properties: {
    ...membersIn('everywhere', { name: { type: 'string' }, slug: { type: 'string' } }),
    ...membersIn('shown', { public: { type: 'boolean' }, queryable: { type: 'boolean' } }),
    ...membersIn('edit', {
      private: { type: 'boolean' },
      protected: { type: 'boolean' },
      show_in_list: { type: 'boolean' },
    }),
  },
};

/** `/wp/v2/statuses`: public statuses, and for editors all that can be set. */
export function addStatusesRoutes({ rest, parts: { statuses, types } }: ContentRestDependencies): void {
  const isEditor = (user: User): boolean =>
    types.all().some((type) => type.showInRest && user.can(type.capabilities.edit_posts));
  const links = (): Record<string, RestLink[]> => ({ archives: [{ href: rest.url('/wp/v2/posts') }] });
  const list: RouteDefinition = {
    args: { context: contextArgument },
    schema: statusSchema,
    summary: 'Lists post statuses.',
    security: publicReadSecurity,
    responses: {
      200: { description: 'The items by name.', schema: { type: 'object', additionalProperties: statusSchema } },
    },
    permission: (request) => {
      if (request.params['context'] !== 'edit' || isEditor(request.user)) return true;
      return refused(request, 'rest_cannot_view', 'Sorry, you are not allowed to manage post statuses.');
    },
    handler: (request) => {
      const visible = statuses
        .all()
        .filter((status) => status.public || (isEditor(request.user) && (!status.internal || status.name === 'trash')));
      return Object.fromEntries(
        visible.map((status) => [status.name, withLinks(request, statusBody(status, request), links())]),
      );
    },
  };
  const one: RouteDefinition = {
    args: {
      status: { type: 'string', ...argumentBounds.key, description: 'An alphanumeric identifier for the status.' },
      context: contextArgument,
    },
    schema: statusSchema,
    summary: 'Reads a post status.',
    security: publicReadSecurity,
    permission: (request) => {
      const status = statuses.get(String(request.params['status']));
      if (status === undefined) return restError(404, 'rest_status_invalid', 'Invalid status.');
      return (
        status.public || isEditor(request.user) || refused(request, 'rest_cannot_read_status', 'Cannot view status.')
      );
    },
    handler: (request) => {
      const status = statuses.get(String(request.params['status']));
      return status === undefined
        ? restError(404, 'rest_status_invalid', 'Invalid status.')
        : new RestResponse({ body: statusBody(status, request), ...(wantsLinks(request) && { links: links() }) });
    },
  };
  rest.registerRoute('wp/v2', '/statuses', list);
  rest.registerRoute('wp/v2', '/statuses/(?P<status>[\\w-]+)', one);
}

function statusBody(status: PostStatus, request: Request): Params {
  const body = {
    name: status.label,
    private: status.private,
    protected: status.protected,
    public: status.public,
    queryable: status.public,
    show_in_list: !status.internal,
    slug: status.name,
  };
  return pick(body, statusSchema, request);
}

function pick(body: Params, schema: JsonSchema, { params }: Request): Params {
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name]) => schema.properties?.[name]?.context?.includes(String(params['context'] ?? 'view')) ?? false,
    ),
  );
}

function withLinks(request: Request, body: Params, links: Record<string, RestLink[]>): Params {
  return wantsLinks(request) ? { ...body, _links: compactLinks(links) } : body;
}
