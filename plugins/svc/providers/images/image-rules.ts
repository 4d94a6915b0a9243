import type { ImageEditRules, ImageFields, ImageRequest, ImageSize } from '../provider.ts';
import { nearestShape, nearestTier, type Shapes } from './image-shape.ts';

/** The fields that one image model supports. A new model is a line in its provider's table. */
export interface ImageRules {
  /** Maximum images per call. */
  readonly perCall: number;
  /** Format of a size: pixels in `size`, the nearest supported aspect ratio, or null if not supported. */
  readonly size: 'pixels' | Shapes | null;
  /** The model's names of the supported qualities. */
  readonly quality: Readonly<Partial<Record<'standard' | 'hd', string>>>;
  readonly style: boolean;
  /** Whether `response_format` is supported; other models return one format only. */
  readonly responseFormat: boolean;
  /** Omitted if the model cannot edit images. */
  readonly edit?: ImageEditRules;
}

/** Rules by model; the first matching pattern applies. */
export interface ImageModelTable {
  readonly models: readonly (readonly [name: RegExp, rules: ImageRules])[];
  /** For unknown models. */
  readonly others: ImageRules;
}

/** @param model in any case, with or without a vendor's prefix (`openai/`, `models/`). */
export function findImageRules(table: ImageModelTable, model: string): ImageRules {
  const name = model.toLowerCase().replace(/^.*\//, '');
  return table.models.find(([pattern]) => pattern.test(name))?.[1] ?? table.others;
}

export function supportedFields({ size, quality, style }: ImageRules): ImageFields {
  return {
    size: size !== null,
    quality: (['standard', 'hd'] as const).filter((name) => quality[name] !== undefined),
    style,
  };
}

export interface WrittenImageFields {
  /** Members of the request. */
  readonly wire: Readonly<Record<string, string>>;
  /** Names of the contract's fields that are not supported. */
  readonly ignored: readonly string[];
}

/** Maps size, quality, style and format by a model's rules, and lists the fields left out. */
export function writeImageFields(request: Omit<ImageRequest, 'prompt' | 'n'>, rules: ImageRules): WrittenImageFields {
  const quality = request.quality === undefined ? undefined : rules.quality[request.quality];
  const ignored = [
    ...(request.size !== undefined && rules.size === null ? ['size'] : []),
    ...(request.quality !== undefined && quality === undefined ? ['quality'] : []),
    ...(request.style !== undefined && !rules.style ? ['style'] : []),
  ];
  const wire = {
    ...(request.size !== undefined && mapSize(request.size, rules.size)),
    ...(quality !== undefined && { quality }),
    ...(request.style !== undefined && rules.style && { style: request.style }),
    ...(rules.responseFormat && { response_format: request.responseFormat }),
  };
  return { wire, ignored };
}

function mapSize(size: ImageSize, rule: ImageRules['size']): Readonly<Record<string, string>> {
  if (rule === null) return {};
  if (rule === 'pixels') return { size };
  return {
    [rule.shapeName]: nearestShape(size, rule.shapes),
    ...(rule.tiers !== undefined && { [rule.tiers.name]: nearestTier(size, rule.tiers.edges) }),
  };
}
