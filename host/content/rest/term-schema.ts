import { argumentBounds, pagingArguments } from '#plugin-api';
import type { JsonSchema, RouteArgument, Taxonomy } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { contextArgument } from './context.ts';
import { fieldArguments, fieldSchemas } from './rest-fields.ts';

type Fields = Pick<ContentParts, 'fields'>;

const everywhere = ['view', 'embed', 'edit'];
const shown = ['view', 'edit'];

export const termIdArgument: RouteArgument = {
  description: 'Unique identifier for the term.',
  type: 'integer',
  ...argumentBounds.id,
};

/** The REST schema of the terms of a taxonomy. */
export function termSchema({ name, hierarchical }: Taxonomy, { fields }: Fields): JsonSchema {
  const readOnly = true;
  return {
    title: name === 'post_tag' ? 'tag' : name,
    type: 'object',
    properties: {
      id: { description: 'Unique identifier for the term.', type: 'integer', context: everywhere, readOnly },
      count: { description: 'Number of published posts for the term.', type: 'integer', context: shown, readOnly },
      description: { description: 'HTML description of the term.', type: 'string', context: shown },
      link: { description: 'URL of the term.', type: 'string', format: 'uri', context: everywhere, readOnly },
      name: { description: 'HTML title for the term.', type: 'string', context: everywhere, required: true },
      slug: {
        description: 'An alphanumeric identifier for the term unique to its type.',
        type: 'string',
        context: everywhere,
      },
      taxonomy: {
        description: 'Type attribution for the term.',
        type: 'string',
        enum: [name],
        context: everywhere,
        readOnly,
      },
      ...(hierarchical && { parent: { description: 'The parent term ID.', type: 'integer', context: shown } as const }),
      meta: { description: 'Meta fields.', type: 'object', context: shown, properties: {} },
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

const ids = { type: 'array', items: { type: 'integer', ...argumentBounds.id }, default: [] } as const;

/** Arguments of a list of terms. */
export function termListArguments({ hierarchical }: Taxonomy): Record<string, RouteArgument> {
  return {
    context: contextArgument,
    ...pagingArguments,
    search: { description: 'Limit results to those matching a string.', type: 'string', ...argumentBounds.line },
    exclude: { description: 'Ensure result set excludes specific IDs.', ...argumentBounds.list, ...ids },
    include: { description: 'Limit result set to specific IDs.', ...argumentBounds.list, ...ids },
    order: {
      description: 'Order sort attribute ascending or descending.',
      type: 'string',
      default: 'asc',
      enum: ['asc', 'desc'],
    },
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
      : {
          offset: {
            description: 'Offset the result set by a specific number of items.',
            type: 'integer',
            ...argumentBounds.id,
          } as const,
        }),
    post: {
      description: 'Limit result set to terms assigned to a specific post.',
      type: 'integer',
      ...argumentBounds.id,
      default: null,
    },
    slug: {
      description: 'Limit result set to terms with one or more specific slugs.',
      type: 'array',
      ...argumentBounds.list,
      items: { type: 'string', ...argumentBounds.line },
    },
  };
}
