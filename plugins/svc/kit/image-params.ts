import type { JsonSchema } from '#plugin-api';

/** JSON Schema of the parameters of an image (contract 4.3), the source of the route and the settings form. */
export const imageParamSchemas = {
  size: {
    type: 'string',
    title: 'Size',
    maxLength: 11,
    pattern: '^[1-9][0-9]{0,4}x[1-9][0-9]{0,4}$',
    rule: 'must be a width and a height in pixels, such as 1024x1024',
    description: 'Width and height in pixels, for example 1024x1024. Available sizes depend on the model.',
    examples: ['1024x1024', '1792x1024', '1024x1792', '1536x1024', '1024x1536', '1024x768', '768x1024'],
  },
  quality: { type: 'string', title: 'Quality', enum: ['standard', 'hd'], description: 'If the model supports it.' },
  style: { type: 'string', title: 'Style', enum: ['vivid', 'natural'], description: 'If the model supports it.' },
} as const satisfies Record<string, JsonSchema>;

/** What every request for an image or a video names. */
export const promptSchemas = {
  prompt: { type: 'string', title: 'Prompt', maxLength: 32_000, required: true, ui: { rows: 3 } },
  provider: { type: 'string', title: 'Provider', required: true },
  model: { type: 'string', title: 'Model', maxLength: 200 },
} as const satisfies Record<string, JsonSchema>;

/** The provider chooses the values of missing keys. */
export interface ImageParams {
  readonly size?: `${number}x${number}`;
  readonly quality?: 'standard' | 'hd';
  readonly style?: 'vivid' | 'natural';
}

/** The size and quality that a model supports, and that its price may depend on. Without known fields, all. */
export function supportedImageFields(
  { size, quality }: { readonly [Name in 'size' | 'quality']?: ImageParams[Name] | undefined },
  fields: { readonly size: boolean; readonly quality: readonly string[] } | undefined,
): Pick<ImageParams, 'size' | 'quality'> {
  return {
    ...(size !== undefined && fields?.size !== false && { size }),
    ...(quality !== undefined && fields?.quality.includes(quality) !== false && { quality }),
  };
}

/** An image to send upstream, validated by its bytes. */
export interface SourceImage {
  readonly bytes: Uint8Array;
  /** For example `image/png`. */
  readonly mimeType: string;
}
