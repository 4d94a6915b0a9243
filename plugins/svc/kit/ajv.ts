import { createRequire } from 'node:module';
import type { Ajv, Options } from 'ajv';

const require = createRequire(import.meta.url);

/** A new ajv. Its 68 files are loaded by the first call, at once and not as a promise: what checks by it may stay synchronous. Call it at the first check, not at the start. */
export function createAjv(options: Options): Ajv {
  const ajv = require('ajv') as typeof import('ajv');
  return new ajv.Ajv(options);
}
