import { argumentBounds, RestError } from '#plugin-api';
import type { JsonSchema, PostType, RouteArgument } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { invalidStatus } from './post-input.ts';
import { termSchemas, termWriteArguments } from './post-terms.ts';
import { fieldArguments, fieldSchemas } from './rest-fields.ts';

const everywhere = ['view', 'edit', 'embed'];
const shown = ['view', 'edit'];
const edit = ['edit'];

function htmlSchema(description: string, contexts: readonly string[]): JsonSchema {
  return {
    type: 'object',
    description,
    context: contexts,
    properties: {
      raw: { type: 'string', context: edit },
      rendered: { type: 'string', context: contexts, readOnly: true },
    },
  };
}

/** Text that a password may protect; then `rendered` is empty for readers who do not know it. */
function protectedSchema(description: string, contexts: readonly string[]): JsonSchema {
  const schema = htmlSchema(description, contexts);
  return {
    ...schema,
    properties: {
      ...schema.properties,
      protected: {
        type: 'boolean',
        description: 'Whether it is protected with a password.',
        context: everywhere,
        readOnly: true,
      },
    },
  };
}

type SchemaParts = Pick<ContentParts, 'meta' | 'taxonomies' | 'fields'>;

/** The REST schema of a post type. `context` lists where each member appears. */
export function postSchema(type: PostType, parts: SchemaParts): JsonSchema {
  const isMedia = type.name === 'attachment';
  return {
    title: type.name,
    type: 'object',
    properties: {
      id: { type: 'integer', description: 'Unique identifier for the post.', context: everywhere, readOnly: true },
      date: {
        type: ['string', 'null'],
        format: 'date-time',
        description: "The date the post was published, in the site's timezone.",
        context: everywhere,
      },
      date_gmt: {
        type: ['string', 'null'],
        format: 'date-time',
        description: 'The date the post was published, as GMT.',
        context: shown,
      },
      guid: htmlSchema('The globally unique identifier for the post.', shown),
      modified: { type: 'string', format: 'date-time', context: shown, readOnly: true },
      modified_gmt: { type: 'string', format: 'date-time', context: shown, readOnly: true },
      slug: {
        type: 'string',
        description: 'An alphanumeric identifier for the post unique to its type.',
        context: everywhere,
      },
      status: { type: 'string', description: 'A named status for the post.', context: shown },
      type: { type: 'string', description: 'Type of post.', context: everywhere, readOnly: true },
      link: { type: 'string', format: 'uri', description: 'URL to the post.', context: everywhere, readOnly: true },
      title: htmlSchema('The title for the post.', everywhere),
      author: { type: 'integer', description: 'The ID for the author of the post.', context: everywhere },
      featured_media: {
        type: 'integer',
        description: 'The ID of the featured media for the post.',
        context: everywhere,
      },
      ...(!isMedia && textProperties),
      ...(type.supports.includes('comments') && {
        comment_status: { ...commentStatusSchema, context: shown },
      }),
      ...(type.hierarchical && {
        parent: { type: 'integer', description: 'The ID for the parent of the post.', context: shown },
      }),
      ...(type.supports.includes('page-attributes') && {
        menu_order: {
          type: 'integer',
          description: 'The order of the post in relation to other posts.',
          context: shown,
        },
      }),
      ...(isMedia && mediaProperties),
      meta: { type: 'object', description: 'Meta fields.', context: shown, properties: metaSchema(type, parts) },
      ...termSchemas(parts, type),
      permalink_template: { type: 'string', context: edit, readOnly: true },
      generated_slug: { type: 'string', context: edit, readOnly: true },
      class_list: { type: 'array', items: { type: 'string' }, context: shown, readOnly: true },
      ...fieldSchemas(parts.fields, type.name),
    },
  };
}

const commentStatusSchema = {
  type: 'string',
  description: 'Whether or not comments are open on the post.',
  enum: ['open', 'closed'],
} as const satisfies JsonSchema;

const textProperties: Readonly<Record<string, JsonSchema>> = {
  content: protectedSchema('The content for the post.', shown),
  excerpt: protectedSchema('The excerpt for the post.', everywhere),
  password: {
    type: 'string',
    description: 'A password to protect access to the content and excerpt.',
    context: edit,
  },
};

const mediaProperties: Readonly<Record<string, JsonSchema>> = {
  alt_text: {
    type: 'string',
    description: 'Alternative text to display when attachment is not displayed.',
    context: everywhere,
  },
  caption: htmlSchema('The attachment caption.', everywhere),
  description: htmlSchema('The attachment description.', shown),
  media_type: { type: 'string', enum: ['image', 'file'], context: everywhere, readOnly: true },
  mime_type: { type: 'string', context: everywhere, readOnly: true },
  media_details: {
    type: 'object',
    description: 'Details about the media file, specific to its type.',
    context: everywhere,
    readOnly: true,
  },
  post: { type: ['integer', 'null'], description: 'The ID for the associated post of the attachment.', context: shown },
  source_url: {
    type: 'string',
    format: 'uri',
    description: 'URL to the original attachment file.',
    context: everywhere,
    readOnly: true,
  },
};

/** Meta keys of the type that REST exposes. */
export function metaSchema(type: PostType, { meta }: Pick<ContentParts, 'meta'>): Record<string, JsonSchema> {
  const entries = [...meta.keysFor(type.name)].filter(([, definition]) => definition.showInRest === true);
  return Object.fromEntries(
    entries.map(([key, { schema, single, description, default: value }]) => {
      const documented = {
        ...(description !== undefined && { description }),
        ...(value !== undefined && { default: value }),
      };
      return [
        key,
        single === false
          ? { type: 'array', ...argumentBounds.list, items: schema, ...documented }
          : { ...schema, ...documented },
      ];
    }),
  );
}

const writtenText = (bounds: { readonly maxLength: number }) =>
  ({
    type: ['string', 'object'],
    ...bounds,
    properties: { raw: { type: 'string', ...bounds } },
  }) as const satisfies RouteArgument;
const paragraph = writtenText(argumentBounds.paragraph);
const document = writtenText(argumentBounds.document);

const writtenDates: Readonly<Record<string, RouteArgument>> = {
  date: {
    type: ['string', 'null'],
    format: 'date-time',
    ...argumentBounds.dateTime,
    description: "The date the post was published, in the site's timezone.",
  },
  date_gmt: {
    type: ['string', 'null'],
    format: 'date-time',
    ...argumentBounds.dateTime,
    description: 'The date the post was published, as GMT.',
  },
};

type WriteParts = SchemaParts & Pick<ContentParts, 'statuses' | 'store'>;

/** As in WordPress, an update may repeat a status that REST does not set, such as `auto-draft`. */
function statusArgument(type: PostType, { statuses, store }: WriteParts): RouteArgument {
  return {
    type: 'string',
    ...argumentBounds.key,
    description: 'A named status for the post.',
    // Not `enum`: the statuses change with the plugins.
    async sanitize(value, { url }) {
      const error = invalidStatus({ statuses }, type, value);
      if (error === null) return value;
      const before = url['id'] === undefined ? null : await store.get(Number(url['id']));
      if (before !== null && before.status === value) return value;
      return new RestError({ code: error.code ?? '', message: error.message, status: 400, data: null });
    },
  };
}

/** Arguments for what not every type has. */
function supportedArguments(type: PostType): Record<string, RouteArgument> {
  return {
    ...(type.supports.includes('comments') && { comment_status: commentStatusSchema }),
    ...(type.hierarchical && {
      parent: { type: 'integer', ...argumentBounds.id, description: 'The ID for the parent of the post.' } as const,
    }),
    ...(type.supports.includes('page-attributes') && {
      menu_order: {
        type: 'integer',
        ...argumentBounds.integer,
        description: 'The order of the post in relation to other posts.',
      } as const,
    }),
  };
}

/** Arguments to create or update a post of the type. @param isNew defaults of fields apply. */
export function writeArguments(type: PostType, parts: WriteParts, isNew: boolean): Record<string, RouteArgument> {
  const meta = metaSchema(type, parts);
  // Without defaults, which would be written for omitted keys.
  const writable = Object.fromEntries(
    Object.entries(meta).map(([key, { default: _default, ...schema }]) => [
      key,
      { ...schema, type: nullable(schema.type) },
    ]),
  );
  return {
    ...writtenDates,
    slug: {
      type: 'string',
      ...argumentBounds.line,
      description: 'An alphanumeric identifier for the post unique to its type.',
    },
    status: statusArgument(type, parts),
    title: { ...paragraph, description: 'The title for the post.' },
    author: { type: 'integer', ...argumentBounds.id, description: 'The ID for the author of the post.' },
    featured_media: {
      type: 'integer',
      ...argumentBounds.id,
      description: 'The ID of the featured media for the post.',
    },
    ...(type.name === 'attachment'
      ? {
          alt_text: {
            type: 'string',
            ...argumentBounds.paragraph,
            description: 'Alternative text to display when attachment is not displayed.',
          },
          caption: { ...document, description: 'The attachment caption.' },
          description: { ...document, description: 'The attachment description.' },
          post: {
            type: ['integer', 'null'],
            ...argumentBounds.id,
            description: 'The ID for the associated post of the attachment.',
          } as const,
        }
      : {
          content: { ...document, description: 'The content for the post.' },
          excerpt: { ...document, description: 'The excerpt for the post.' },
          password: {
            type: 'string',
            maxLength: 255,
            description: 'A password to protect access to the content and excerpt.',
          } as const,
        }),
    ...supportedArguments(type),
    ...termWriteArguments(parts, type),
    ...fieldArguments(parts.fields, type.name, isNew),
    ...(Object.keys(meta).length > 0 && {
      meta: { type: 'object', description: 'Meta fields.', properties: writable } as const,
    }),
  };
}

function nullable(type: JsonSchema['type']): NonNullable<JsonSchema['type']> {
  const types =
    type === undefined ? (['string'] as const) : ([type].flat() as NonNullable<Exclude<JsonSchema['type'], string>>);
  return [...types, 'null'] as NonNullable<JsonSchema['type']>;
}

/** Removes members that do not belong to the context, at every level. */
export function inContext(
  body: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  context: string,
): Record<string, unknown> {
  const entries = Object.entries(body).filter(
    ([name]) => schema.properties?.[name]?.context?.includes(context) ?? true,
  );
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const inner = schema.properties?.[name];
      const isHtml = inner?.properties?.['rendered'] !== undefined && typeof value === 'object' && value !== null;
      return [name, isHtml ? inContext(value as Record<string, unknown>, inner, context) : value];
    }),
  );
}
