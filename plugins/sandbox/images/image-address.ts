import { digest } from '../random.ts';
import type { PictureRecipe } from './picture.ts';

export interface Drawn {
  readonly prompt: string;
  readonly width: number;
  readonly height: number;
  /** Which of several pictures of one prompt. */
  readonly index: number;
  readonly seed: number;
  readonly model: string;
}

/** The picture of a prompt: another one for another model, seed or index among several. */
export function recipeOf({ prompt, width, height, index, seed, model }: Drawn): PictureRecipe {
  return {
    width,
    height,
    fingerprint: digest('image', seed, model, prompt, index).slice(0, 32),
    caption: [...prompt.replace(/\s+/g, ' ').trim()].slice(0, 45).join(''),
  };
}

/**
 * Where a picture can be fetched. The address holds all it is made of, so nothing is stored, and it works as long as
 * the sandbox listens.
 */
export function addressOf(origin: string, { width, height, fingerprint, caption }: PictureRecipe): string {
  return `${origin}/images/${String(width)}x${String(height)}-${fingerprint}-${Buffer.from(caption).toString('base64url')}.png`;
}

/** The recipe an address holds, or null. */
export function recipeAt(path: string): PictureRecipe | null {
  const [, width = '', height = '', fingerprint = '', caption = ''] =
    /^\/(\d{2,4})x(\d{2,4})-([0-9a-f]{32})-([\w-]{0,300})\.png$/.exec(path) ?? [];
  const recipe = {
    width: Number(width),
    height: Number(height),
    fingerprint,
    caption: Buffer.from(caption, 'base64url').toString(),
  };
  return Math.min(recipe.width, recipe.height) >= 16 && Math.max(recipe.width, recipe.height) <= 4096 ? recipe : null;
}
