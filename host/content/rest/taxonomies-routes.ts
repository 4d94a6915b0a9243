import { argumentBounds, contextArgument, readOnlyIn, RestResponse, wantsLinks } from '#plugin-api';
import type { JsonSchema, Params, RestLink, RouteDefinition, Taxonomy, User } from '#plugin-api';
import { contentErrors } from '../errors.ts';
import { compactLinks, publicReadSecurity, refused, type ContentRestDependencies, type Request } from './context.ts';
import { inContext } from './post-schema.ts';

const visibility: Readonly<Record<string, string>> = {
  public: 'Whether a taxonomy is intended for use publicly either via the admin interface or by front-end users.',
  publicly_queryable: 'Whether the taxonomy is publicly queryable.',
  show_ui: 'Whether to generate a default UI for managing this taxonomy.',
  show_admin_column: 'Whether to allow automatic creation of taxonomy columns on associated post-types table.',
  show_in_nav_menus: 'Whether to make the taxonomy available for selection in navigation menus.',
  show_in_quick_edit: 'Whether to show the taxonomy in the quick/bulk edit panel.',
};

const schema: JsonSchema = {
  title: 'taxonomy',
  type: 'object',
  properties: {
    ...readOnlyIn('everywhere', {
      name: { description: 'The title for the taxonomy.', type: 'string' },
      slug: { description: 'An alphanumeric identifier for the taxonomy.', type: 'string' },
      rest_base: { description: 'REST base route for the taxonomy.', type: 'string' },
      rest_namespace: { description: 'REST namespace route for the taxonomy.', type: 'string' },
    }),
    ...readOnlyIn('shown', {
      description: { description: 'A human-readable description of the taxonomy.', type: 'string' },
      hierarchical: { description: 'Whether or not the taxonomy should have children.', type: 'boolean' },
      types: { description: 'Types associated with the taxonomy.', type: 'array', items: { type: 'string' } },
    }),
    ...readOnlyIn('edit', {
      capabilities: { description: 'All capabilities used by the taxonomy.', type: 'object' },
      labels: { description: 'Human-readable labels for the taxonomy for various contexts.', type: 'object' },
      show_cloud: { description: 'Whether or not the term cloud should be displayed.', type: 'boolean' },
      visibility: {
        description: 'The visibility settings for the taxonomy.',
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(visibility).map(([name, description]) => [name, { description, type: 'boolean' } as const]),
        ),
      },
    }),
  },
};

const refusal = 'Sorry, you are not allowed to manage terms in this taxonomy.';

/** `/wp/v2/taxonomies`: the taxonomies that REST shows. */
export function addTaxonomiesRoutes(given: ContentRestDependencies): void {
  given.rest.registerRoute('wp/v2', '/taxonomies', listRoute(given));
  given.rest.registerRoute('wp/v2', '/taxonomies/(?P<taxonomy>[\\w-]+)', oneRoute(given));
}

function mayAssign({ user }: { readonly user: User }, { capabilities }: Taxonomy): boolean {
  return user.can(capabilities.assign_terms);
}

function listRoute({ rest, parts: { taxonomies } }: ContentRestDependencies): RouteDefinition {
  const listed = ({ params }: Pick<Request, 'params'>): Taxonomy[] =>
    taxonomies
      .all()
      .filter(
        ({ showInRest, types }) => showInRest && (typeof params['type'] !== 'string' || types.includes(params['type'])),
      );
  return {
    args: {
      context: contextArgument,
      type: {
        description: 'Limit results to taxonomies associated with a specific post type.',
        type: 'string',
        ...argumentBounds.key,
      },
    },
    schema,
    summary: 'Lists taxonomies.',
    security: publicReadSecurity,
    responses: {
      200: { description: 'The items by name.', schema: { type: 'object', additionalProperties: schema } },
    },
    permission: (request) =>
      request.params['context'] !== 'edit' ||
      listed(request).some((taxonomy) => mayAssign(request, taxonomy)) ||
      refused(request, 'rest_cannot_view', refusal),
    handler: (request) =>
      Object.fromEntries(
        listed(request)
          .filter((taxonomy) => request.params['context'] !== 'edit' || mayAssign(request, taxonomy))
          .map((taxonomy) => [
            taxonomy.name,
            {
              ...toBody(taxonomy, request),
              ...(wantsLinks(request) && { _links: compactLinks(links(rest, taxonomy)) }),
            },
          ]),
      ),
  };
}

function oneRoute({ rest, parts: { taxonomies } }: ContentRestDependencies): RouteDefinition {
  return {
    args: {
      taxonomy: {
        type: 'string',
        ...argumentBounds.key,
        description: 'An alphanumeric identifier for the taxonomy.',
      },
      context: contextArgument,
    },
    schema,
    summary: 'Reads a taxonomy.',
    security: publicReadSecurity,
    permission: (request) => {
      const taxonomy = taxonomies.get(String(request.params['taxonomy']));
      if (taxonomy === undefined) return true;
      if (!taxonomy.showInRest) return false;
      return (
        request.params['context'] !== 'edit' ||
        mayAssign(request, taxonomy) ||
        refused(request, 'rest_forbidden_context', refusal)
      );
    },
    handler: (request) => {
      const taxonomy = taxonomies.get(String(request.params['taxonomy']));
      if (taxonomy === undefined) throw contentErrors.rest_taxonomy_invalid();
      return new RestResponse({
        body: toBody(taxonomy, request),
        ...(wantsLinks(request) && { links: links(rest, taxonomy) }),
      });
    },
  };
}

function links(rest: ContentRestDependencies['rest'], { restBase }: Taxonomy): Record<string, RestLink[]> {
  return {
    collection: [{ href: rest.url('/wp/v2/taxonomies') }],
    'https://api.w.org/items': [{ href: rest.url(`/wp/v2/${restBase}`) }],
  };
}

function toBody(taxonomy: Taxonomy, { params }: Request): Params {
  const { showInAdmin, public: isPublic } = taxonomy;
  return inContext(
    {
      name: taxonomy.label,
      slug: taxonomy.name,
      capabilities: taxonomy.capabilities,
      description: taxonomy.description,
      labels: taxonomy.labels,
      types: taxonomy.types,
      show_cloud: showInAdmin,
      hierarchical: taxonomy.hierarchical,
      rest_base: taxonomy.restBase,
      rest_namespace: 'wp/v2',
      visibility: {
        public: isPublic,
        publicly_queryable: isPublic,
        show_admin_column: taxonomy.isBuiltIn,
        show_in_nav_menus: isPublic,
        show_in_quick_edit: showInAdmin,
        show_ui: showInAdmin,
      },
    },
    schema,
    String(params['context'] ?? 'view'),
  );
}
