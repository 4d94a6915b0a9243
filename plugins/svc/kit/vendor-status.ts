import { asRecord, RestError } from '#plugin-api';

/** Failures of providers that clients of vendors act on, with the parameter they are about and the vendors' status. */
const rejections: Readonly<
  Record<string, { readonly code: string; readonly param: string | null; readonly status?: number }>
> = {
  content_filter: { code: 'content_filter', param: null },
  context_length: { code: 'context_length_exceeded', param: 'messages' },
  model_not_found: { code: 'model_not_found', param: 'model', status: 404 },
  insufficient_quota: { code: 'insufficient_quota', param: null, status: 429 },
};

/** What a failed call was refused for, by the names that OpenAI gives it. Undefined for other errors. */
export function rejectionIn(details: Readonly<Record<string, unknown>>) {
  const { reason, param, vendor_code: code } = details;
  if (details['provider_status'] === undefined || typeof reason !== 'string') return undefined;
  if (reason === 'invalid_request')
    return { code: typeof code === 'string' ? code : undefined, param: typeof param === 'string' ? param : null };
  return Object.hasOwn(rejections, reason) ? rejections[reason] : undefined;
}

/**
 * The error with the status that vendors give it: 404 for a model that the provider does not have, which is a 400 elsewhere (D5),
 * and 429 for an account without credits, whatever its vendor answers.
 */
export function withVendorStatus(error: unknown): unknown {
  if (!(error instanceof RestError)) return error;
  const rejection = rejectionIn(asRecord(error.data));
  const status = rejection && 'status' in rejection ? rejection.status : undefined;
  if (status === undefined || status === error.status) return error;
  const { code, message, data, headers } = error;
  return new RestError({ code, message, data, headers, status, cause: error.cause });
}
