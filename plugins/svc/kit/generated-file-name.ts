import { randomBytes } from 'node:crypto';

/** A file name for a generated image. No other file ever gets it, not even after this one is deleted. */
export function generatedFileName(extension: string): string {
  return `generated-${randomBytes(8).toString('hex')}.${extension}`;
}
