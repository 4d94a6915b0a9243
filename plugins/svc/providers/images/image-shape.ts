import type { ImageSize } from '../provider.ts';

/** Aspect ratios such as `16:9`, and perhaps resolution tiers such as `2K`, of models without pixel sizes. */
export interface Shapes {
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
