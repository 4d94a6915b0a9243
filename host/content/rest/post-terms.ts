import { argumentBounds, idsArgument } from '#plugin-api';
import type { JsonSchema, Params, PostQuery, PostType, RouteArgument, Taxonomy, Term, TermFilter } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { taxonomiesOf } from '../taxonomies/taxonomies.ts';
import { refused, type ContentRestDependencies, type Links, type Request } from './context.ts';

type Parts = Pick<ContentParts, 'taxonomies'>;

/** Taxonomies of a type that REST shows. */
function shownTaxonomies({ taxonomies }: Parts, { name }: Pick<PostType, 'name'>): readonly Taxonomy[] {
  return taxonomiesOf(taxonomies, name).filter(({ showInRest }) => showInRest);
}

/** `categories`: a list of ids, or an object with operator and children. */
function filterArgument({ hierarchical }: Taxonomy, description: string, hasOperator: boolean): RouteArgument {
  return {
    description,
    type: ['object', 'array'],
    ...argumentBounds.list,
    oneOf: [
      { title: 'Term ID List', description: 'Match terms with the listed IDs.', ...idsArgument },
      {
        title: 'Term ID Taxonomy Query',
        description: 'Perform an advanced term query.',
        type: 'object',
        properties: {
          terms: { description: 'Term IDs.', default: [], ...idsArgument },
          ...(hierarchical && {
            include_children: {
              description: 'Whether to include child terms in the terms limiting the result set.',
              type: 'boolean',
              default: false,
            } as const,
          }),
          ...(hasOperator && {
            operator: {
              description: 'Whether items must be assigned all or any of the specified terms.',
              type: 'string',
              enum: ['AND', 'OR'],
              default: 'OR',
            } as const,
          }),
        },
        additionalProperties: false,
      },
    ],
  };
}

/** Arguments that filter a list of posts by terms. */
export function termFilterArguments(parts: Parts, type: PostType): Record<string, RouteArgument> {
  const shown = shownTaxonomies(parts, type);
  if (shown.length === 0) return {};
  return {
    tax_relation: {
      description: 'Limit result set based on relationship between multiple taxonomies.',
      type: 'string',
      enum: ['AND', 'OR'],
    },
    ...Object.fromEntries(
      shown.flatMap((taxonomy) => [
        [
          taxonomy.restBase,
          filterArgument(
            taxonomy,
            `Limit result set to items with specific terms assigned in the ${taxonomy.restBase} taxonomy.`,
            true,
          ),
        ],
        [
          `${taxonomy.restBase}_exclude`,
          filterArgument(
            taxonomy,
            `Limit result set to items except those with specific terms assigned in the ${taxonomy.restBase} taxonomy.`,
            false,
          ),
        ],
      ]),
    ),
  };
}

export function readTermFilters(
  parts: Parts,
  type: PostType,
  params: Params,
): Pick<PostQuery, 'terms' | 'termsRelation'> {
  const terms = shownTaxonomies(parts, type).flatMap(({ restBase }) => [
    ...readFilter(params[restBase], (operator) => (operator === 'AND' ? 'AND' : 'IN')),
    ...readFilter(params[`${restBase}_exclude`], () => 'NOT IN'),
  ]);
  if (terms.length === 0) return {};
  return { terms, ...(params['tax_relation'] === 'OR' && { termsRelation: 'OR' }) };
}

function readFilter(
  value: unknown,
  operatorOf: (operator: unknown) => NonNullable<TermFilter['operator']>,
): TermFilter[] {
  const { terms, operator, include_children } = (Array.isArray(value) ? { terms: value } : (value ?? {})) as {
    readonly terms?: readonly number[];
    readonly operator?: unknown;
    readonly include_children?: unknown;
  };
  if (terms === undefined || terms.length === 0) return [];
  return [{ ids: terms, operator: operatorOf(operator), includeChildren: include_children === true }];
}

/** Members of a post with the ids of its terms. */
export function termSchemas(parts: Parts, type: PostType): Record<string, JsonSchema> {
  return Object.fromEntries(
    shownTaxonomies(parts, type).map(({ restBase, name }) => [
      restBase,
      {
        description: `The terms assigned to the post in the ${name} taxonomy.`,
        type: 'array',
        items: { type: 'integer' },
        context: ['view', 'edit'],
      } as const,
    ]),
  );
}

export function termWriteArguments(parts: Parts, type: PostType): Record<string, RouteArgument> {
  return Object.fromEntries(
    shownTaxonomies(parts, type).map(({ restBase, name }) => [
      restBase,
      { description: `The terms assigned to the post in the ${name} taxonomy.`, ...idsArgument },
    ]),
  );
}

/**
 * The terms that a request sets, by taxonomy.
 *
 * @throws RestError `rest_cannot_assign_term`.
 */
export function readTerms(
  { parts }: Pick<ContentRestDependencies, 'parts'>,
  type: PostType,
  { request, params }: { readonly request: Request; readonly params: Params },
): Record<string, readonly number[]> | null {
  const sent = shownTaxonomies(parts, type).filter(({ restBase }) => Array.isArray(params[restBase]));
  if (sent.length === 0) return null;
  if (sent.some(({ capabilities }) => !request.user.can(capabilities.assign_terms)))
    throw refused(request, 'rest_cannot_assign_term', 'Sorry, you are not allowed to assign the provided terms.');
  return Object.fromEntries(sent.map(({ name, restBase }) => [name, params[restBase] as number[]]));
}

export function termBody(parts: Parts, type: PostType, terms: readonly Term[]): Record<string, unknown> {
  return Object.fromEntries(
    shownTaxonomies(parts, type).map(({ name, restBase }) => [
      restBase,
      terms.filter(({ taxonomy }) => taxonomy === name).map(({ id }) => id),
    ]),
  );
}

/** Classes for a post: those of WordPress, with its terms. */
export function termClasses(parts: Parts, type: PostType, terms: readonly Term[]): string[] {
  return taxonomiesOf(parts.taxonomies, type.name).flatMap(({ name }) =>
    terms
      .filter(({ taxonomy }) => taxonomy === name)
      .map(({ slug }) => `${name === 'post_tag' ? 'tag' : name}-${slug}`),
  );
}

export function termLinks({ rest, parts }: ContentRestDependencies, type: PostType, postId: number): Links {
  const shown = shownTaxonomies(parts, type);
  if (shown.length === 0) return {};
  return {
    'https://api.w.org/term': shown.map(({ name, restBase }) => ({
      taxonomy: name,
      embeddable: true,
      href: `${rest.url(`/wp/v2/${restBase}`)}?post=${postId}`,
    })),
  };
}
