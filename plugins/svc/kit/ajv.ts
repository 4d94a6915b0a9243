import { createRequire } from 'node:module';
import type { Ajv, Options } from 'ajv';

const require = createRequire(import.meta.url);

/**
 * Creates an ajv. The first call loads its 68 files synchronously, so that checks stay synchronous. Call it at the first check,
 * not at the start.
 */
export function createAjv(options: Options): Ajv {
  const ajv = require('ajv') as typeof import('ajv');
  return new ajv.Ajv(options);
}
