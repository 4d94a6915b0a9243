import { fieldArguments, fieldSchemas } from './rest-fields.ts';
import { argumentBounds, membersIn, readOnlyIn, RestError } from '#plugin-api';
import type { JsonSchema, MemberContext, PostType, RouteArgument } from '#plugin-api';
import type { ContentParts } from '../content.ts';
import { invalidStatus } from './post-input.ts';
import { termSchemas, termWriteArguments } from './post-terms.ts';

/** HTML with the text that was written. `where`: the contexts of the rendered one. */
export function htmlSchema(description: string, where: MemberContext) {
  return {
    type: 'object',
    description,
    properties: {
      ...membersIn('edit', { raw: { type: 'string' } }),
      ...readOnlyIn(where, { rendered: { type: 'string' } }),
    },
  } as const satisfies JsonSchema;
}

/** Text that a password may protect; then `rendered` is empty for readers who do not know it. */
function protectedSchema(description: string, where: MemberContext): JsonSchema {
  const schema = htmlSchema(description, where);
  const hasPassword = { type: 'boolean', description: 'Whether it is protected with a password.' } as const;
  return { ...schema, properties: { ...schema.properties, ...readOnlyIn('everywhere', { protected: hasPassword }) } };
}

type SchemaParts = Pick<ContentParts, 'meta' | 'taxonomies' | 'fields'>;

/** The REST schema of a post type. `context` lists where each member appears. */
export function postSchema(type: PostType, parts: SchemaParts): JsonSchema {
  const isMedia = type.name === 'attachment';
  return {
    title: type.name,
    type: 'object',
    properties: {
      ...readOnlyIn('everywhere', {
        id: { type: 'integer', description: 'Unique identifier for the post.' },
        type: { type: 'string', description: 'Type of post.' },
        link: { type: 'string', format: 'uri', description: 'URL to the post.' },
      }),
      ...membersIn('everywhere', {
        date: dates.date,
        slug: { type: 'string', description: 'An alphanumeric identifier for the post unique to its type.' },
        title: htmlSchema('The title for the post.', 'everywhere'),
        author: { type: 'integer', description: 'The ID for the author of the post.' },
        featured_media: { type: 'integer', description: 'The ID of the featured media for the post.' },
      }),
      ...membersIn('shown', {
        date_gmt: dates.date_gmt,
        guid: htmlSchema('The globally unique identifier for the post.', 'shown'),
        status: { type: 'string', description: 'A named status for the post.' },
        ...(type.supports.includes('comments') && { comment_status: commentStatusSchema }),
        ...(type.hierarchical && {
          parent: { type: 'integer', description: 'The ID for the parent of the post.' } as const,
        }),
        ...(type.supports.includes('page-attributes') && { menu_order: menuOrderSchema }),
        meta: { type: 'object', description: 'Meta fields.', properties: metaSchema(type, parts) },
      }),
      ...readOnlyIn('shown', {
        modified: { type: 'string', format: 'date-time' },
        modified_gmt: { type: 'string', format: 'date-time' },
        class_list: { type: 'array', items: { type: 'string' } },
      }),
      ...readOnlyIn('edit', { permalink_template: { type: 'string' }, generated_slug: { type: 'string' } }),
      ...(isMedia ? mediaProperties : textProperties),
      ...termSchemas(parts, type),
      ...fieldSchemas(parts.fields, type.name),
    },
  };
}

const commentStatusSchema = {
  type: 'string',
  description: 'Whether or not comments are open on the post.',
  enum: ['open', 'closed'],
} as const satisfies JsonSchema;

const menuOrderSchema = {
  type: 'integer',
  description: 'The order of the post in relation to other posts.',
} as const satisfies JsonSchema;

/** As a post has them and as a request sets them. */
const dates = {
  date: {
    type: ['string', 'null'],
    format: 'date-time',
    description: "The date the post was published, in the site's timezone.",
  },
  date_gmt: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'The date the post was published, as GMT.',
  },
} as const satisfies Record<string, JsonSchema>;

const textProperties: Readonly<Record<string, JsonSchema>> = {
  ...membersIn('shown', { content: protectedSchema('The content for the post.', 'shown') }),
  ...membersIn('everywhere', { excerpt: protectedSchema('The excerpt for the post.', 'everywhere') }),
  ...membersIn('edit', {
    password: { type: 'string', description: 'A password to protect access to the content and excerpt.' },
  }),
};

const mediaProperties: Readonly<Record<string, JsonSchema>> = {
  ...membersIn('everywhere', {
    alt_text: { type: 'string', description: 'Alternative text to display when attachment is not displayed.' },
    caption: htmlSchema('The attachment caption.', 'everywhere'),
  }),
  ...membersIn('shown', {
    description: htmlSchema('The attachment description.', 'shown'),
    post: { type: ['integer', 'null'], description: 'The ID for the associated post of the attachment.' },
  }),
  ...readOnlyIn('everywhere', {
    media_type: { type: 'string', enum: ['image', 'file'] },
    mime_type: { type: 'string' },
    media_details: { type: 'object', description: 'Details about the media file, specific to its type.' },
    source_url: { type: 'string', format: 'uri', description: 'URL to the original attachment file.' },
  }),
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
      menu_order: { ...menuOrderSchema, ...argumentBounds.integer } as const,
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
    date: { ...dates.date, ...argumentBounds.dateTime },
    date_gmt: { ...dates.date_gmt, ...argumentBounds.dateTime },
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
          excerpt: { ...paragraph, description: 'The excerpt for the post.' },
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
