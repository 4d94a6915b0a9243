import { hostErrors } from './errors.ts';
import type { RestError } from '#plugin-api';

/** JSON of an answer's body; empty for null, which is sent without a body as in WordPress. */
export function encodeBody(
  body: unknown,
): { readonly text: string } | { readonly error: RestError; readonly cause: unknown } {
  if (body === null || body === undefined) return { text: '' };
  try {
    const text = JSON.stringify(body) ?? '';
    // JSON writes numbers that are none as null: only then is it worth looking for one.
    if (text.includes('null') && holdsNonFinite(body)) return failure('Inf and NaN cannot be JSON encoded', undefined);
    return { text };
  } catch (cause) {
    return failure('The answer cannot be JSON encoded', cause);
  }
}

function failure(message: string, cause: unknown): { error: RestError; cause: unknown } {
  return { error: hostErrors.encoding(message), cause };
}

/** Values that write themselves (`toJSON`, a Date say) have decided for themselves. */
function holdsNonFinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return false;
  return Object.values(value).some(holdsNonFinite);
}
