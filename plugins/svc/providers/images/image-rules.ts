import type { ImageEditRules, ImageFields, ImageRequest, ImageSize } from '../provider.ts';
import { nearestShape, nearestTier, type Shapes } from './image-shape.ts';

/** What one image model takes, as data. A new model is a line in its provider's table. */
export interface ImageRules {
  /** Images one call can give. */
  readonly perCall: number;
  /** How a size is written: in pixels under `size`, as the nearest shape the model knows, or not at all. */
  readonly size: 'pixels' | Shapes | null;
  /** The model's word for each quality it knows. */
  readonly quality: Readonly<Partial<Record<'standard' | 'hd', string>>>;
  readonly style: boolean;
  /** Whether `response_format` may be sent; models that do not take it answer in one form alone. */
  readonly responseFormat: boolean;
  /** What it takes to edit an image; left out: it only draws. */
  readonly edit?: ImageEditRules;
}

/** The first line that fits a model's name counts. */
export interface ImageModelTable {
  readonly models: readonly (readonly [name: RegExp, rules: ImageRules])[];
  /** For a name that nothing is known of. */
  readonly others: ImageRules;
}

/** @param model in any case, with or without a vendor's prefix (`openai/`, `models/`). */
export function imageRulesOf(table: ImageModelTable, model: string): ImageRules {
  const name = model.toLowerCase().replace(/^.*\//, '');
  return table.models.find(([pattern]) => pattern.test(name))?.[1] ?? table.others;
}

export function takenFields({ size, quality, style }: ImageRules): ImageFields {
  return {
    size: size !== null,
    quality: (['standard', 'hd'] as const).filter((name) => quality[name] !== undefined),
    style,
  };
}

export interface WrittenImageFields {
  /** Members by the wire's names. */
  readonly wire: Readonly<Record<string, string>>;
  /** Names of the contract's fields that were given and left out. */
  readonly ignored: readonly string[];
}

/** Writes size, quality, style and form by a model's rules; what it does not take is left out and named. */
export function writeImageFields(request: Omit<ImageRequest, 'prompt' | 'n'>, rules: ImageRules): WrittenImageFields {
  const quality = request.quality === undefined ? undefined : rules.quality[request.quality];
  const ignored = [
    ...(request.size !== undefined && rules.size === null ? ['size'] : []),
    ...(request.quality !== undefined && quality === undefined ? ['quality'] : []),
    ...(request.style !== undefined && !rules.style ? ['style'] : []),
  ];
  const wire = {
    ...(request.size !== undefined && writtenSize(request.size, rules.size)),
    ...(quality !== undefined && { quality }),
    ...(request.style !== undefined && rules.style && { style: request.style }),
    ...(rules.responseFormat && { response_format: request.responseFormat }),
  };
  return { wire, ignored };
}

function writtenSize(size: ImageSize, rule: ImageRules['size']): Readonly<Record<string, string>> {
  if (rule === null) return {};
  if (rule === 'pixels') return { size };
  return {
    [rule.shapeName]: nearestShape(size, rule.shapes),
    ...(rule.tiers !== undefined && { [rule.tiers.name]: nearestTier(size, rule.tiers.edges) }),
  };
}
