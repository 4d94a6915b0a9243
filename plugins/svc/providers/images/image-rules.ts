import type {
  ImageCapability,
  ImageEditing,
  ImageEditRules,
  ImageFields,
  ImageRequest,
  ImageSize,
  ProviderSettings,
} from '../provider.ts';

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

/** The calls of a provider of images. */
export type ImageCalls = Pick<ImageCapability, 'generate'> & Pick<ImageEditing, 'edit'>;

/** @param calls without `edit` for a provider that only generates images. */
export function imagesOf(
  rules: (model: string, settings: ProviderSettings) => ImageRules,
  { generate, edit }: Pick<ImageCalls, 'generate'> & Partial<ImageCalls>,
): ImageCapability {
  return {
    ...(edit && { editing: { accepts: (model, settings) => rules(model, settings).edit ?? null, edit } }),
    takes: (model, settings) => supportedFields(rules(model, settings)),
    perCall: (model, settings) => rules(model, settings).perCall,
    generate,
  };
}

function supportedFields({ size, quality, style }: ImageRules): ImageFields {
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

/** Aspect ratios such as `16:9`, and perhaps resolution tiers such as `2K`, of models without pixel sizes. */
interface Shapes {
  readonly shapeName: string;
  /** `width:height`. */
  readonly shapes: readonly string[];
  readonly tiers?: {
    readonly name: string;
    /** Edge of a square image of each tier, in pixels. */
    readonly edges: Readonly<Record<string, number>>;
  };
}

/** The nearest aspect ratio: 16:9 for 1792x1024. The first of two equally near ones. */
export function nearestShape(size: ImageSize, shapes: readonly string[]): string {
  const { width, height } = parseSize(size);
  return nearest(shapes, (shape) => {
    const [wide = 1, high = 1] = shape.split(':').map(Number);
    return Math.abs(Math.log(width / height) - Math.log(wide / high));
  });
}

/** The tier nearest in the number of pixels. */
export function nearestTier(size: ImageSize, edges: Readonly<Record<string, number>>): string {
  const { width, height } = parseSize(size);
  return nearest(Object.keys(edges), (tier) =>
    Math.abs(Math.log(Math.sqrt(width * height)) - Math.log(edges[tier] ?? 1)),
  );
}

function nearest(names: readonly string[], distance: (name: string) => number): string {
  return names.reduce((best, name) => (distance(name) < distance(best) - 1e-9 ? name : best));
}

function parseSize(size: ImageSize): { width: number; height: number } {
  const [width = 1, height = 1] = size.split('x').map(Number);
  return { width: Math.max(1, width), height: Math.max(1, height) };
}
