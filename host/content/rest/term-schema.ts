import { argumentBounds, collectionArguments, membersIn, orderArgument, readOnlyIn, slugsArgument } from '#plugin-api';
import type { JsonSchema, RouteArgument, Taxonomy } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { fieldArguments, fieldSchemas } from './rest-fields.ts';

type Fields = Pick<ContentParts, 'fields'>;

/** In the order that WordPress has for terms. */
const everywhere = ['view', 'embed', 'edit'];

export const termIdArgument: RouteArgument = {
  description: 'Unique identifier for the term.',
  type: 'integer',
  ...argumentBounds.id,
};

/** The REST schema of the terms of a taxonomy. */
export function termSchema({ name, hierarchical }: Taxonomy, { fields }: Fields): JsonSchema {
  return {
    title: name === 'post_tag' ? 'tag' : name,
    type: 'object',
    properties: {
      ...readOnlyIn(everywhere, {
        id: { description: 'Unique identifier for the term.', type: 'integer' },
        link: { description: 'URL of the term.', type: 'string', format: 'uri' },
        taxonomy: { description: 'Type attribution for the term.', type: 'string', enum: [name] },
      }),
      ...readOnlyIn('shown', { count: { description: 'Number of published posts for the term.', type: 'integer' } }),
      ...membersIn(everywhere, {
        name: { description: 'HTML title for the term.', type: 'string', required: true },
        slug: { description: 'An alphanumeric identifier for the term unique to its type.', type: 'string' },
      }),
      ...membersIn('shown', {
        description: { description: 'HTML description of the term.', type: 'string' },
        ...(hierarchical && { parent: { description: 'The parent term ID.', type: 'integer' } as const }),
        meta: { description: 'Meta fields.', type: 'object', properties: {} },
      }),
      ...fieldSchemas(fields, name),
    },
  };
}

/** Arguments to create or update a term. */
export function termWriteArguments(
  { fields }: Fields,
  taxonomy: Taxonomy,
  isNew: boolean,
): Record<string, RouteArgument> {
  return {
    description: { description: 'HTML description of the term.', type: 'string', ...argumentBounds.paragraph },
    name: { description: 'HTML title for the term.', type: 'string', ...argumentBounds.line, required: isNew },
    slug: {
      description: 'An alphanumeric identifier for the term unique to its type.',
      type: 'string',
      ...argumentBounds.line,
    },
    ...(taxonomy.hierarchical && {
      parent: { description: 'The parent term ID.', type: 'integer', ...argumentBounds.id } as const,
    }),
    meta: { description: 'Meta fields.', type: 'object', properties: {} },
    ...fieldArguments(fields, taxonomy.name, isNew),
  };
}

/** Arguments of a list of terms. */
export function termListArguments({ hierarchical }: Taxonomy): Record<string, RouteArgument> {
  const { offset, include, exclude, ...common } = collectionArguments;
  return {
    ...common,
    exclude: { ...exclude, default: [] },
    include: { ...include, default: [] },
    order: orderArgument('asc'),
    orderby: {
      description: 'Sort collection by term attribute.',
      type: 'string',
      default: 'name',
      enum: ['id', 'include', 'name', 'slug', 'include_slugs', 'term_group', 'description', 'count'],
    },
    hide_empty: {
      description: 'Whether to hide terms not assigned to any posts.',
      type: 'boolean',
      default: false,
    },
    ...(hierarchical
      ? {
          parent: {
            description: 'Limit result set to terms assigned to a specific parent.',
            type: 'integer',
            ...argumentBounds.id,
          } as const,
        }
      : { offset }),
    post: {
      description: 'Limit result set to terms assigned to a specific post.',
      type: 'integer',
      ...argumentBounds.id,
      default: null,
    },
    slug: { ...slugsArgument, description: 'Limit result set to terms with one or more specific slugs.' },
  };
}
