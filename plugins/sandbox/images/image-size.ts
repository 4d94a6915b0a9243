export interface Size {
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** Reads `<width>x<height>`; null for anything else, and beyond 16 to 4096 pixels. */
export function readSize(text: string): Size | null {
  const [, width, height] = (/^(\d+)x(\d+)$/.exec(text) ?? []).map(Number);
  if (width === undefined || height === undefined) return null;
  return Math.min(width, height) >= 16 && Math.max(width, height) <= 4096 ? { width, height } : null;
}

/** The size of a shape such as `16:9` with about as many pixels as a square of that edge; sides are multiples of 16. */
export function shapedSize(shape: string, edge: number): Size {
  const [wide = 1, high = 1] = shape.split(':').map(Number);
  const side = (ratio: number): number => Math.min(4096, Math.round((edge * Math.sqrt(ratio)) / 16) * 16);
  return { width: side(wide / high), height: side(high / wide) };
}
