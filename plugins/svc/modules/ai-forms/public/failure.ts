import { RestError, type User } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { AiForm } from '../forms/form.ts';

/** Errors that are the visitor's affair. */
const forVisitors = new Set([
  'rest_invalid_param',
  'rest_svc_ai_form_not_found',
  'rest_svc_form_origin_not_allowed',
  'rest_svc_form_expired',
  'rest_svc_form_limit_reached',
  'rest_svc_rate_limited',
  'rest_svc_submission_running',
  'rest_svc_submission_not_kept',
  'rest_svc_submission_not_found',
  'rest_body_too_large',
  'rest_upload_unreadable',
]);

/**
 * A failure as it is told to a visitor. What a provider said, what is not configured and what broke is the administrator's
 * affair: visitors read the form's own words, administrators the reason.
 */
export function failureFor(
  error: unknown,
  { form, user }: { readonly form: Pick<AiForm, 'texts'>; readonly user: Pick<User, 'can'> },
): RestError {
  if (error instanceof RestError && (forVisitors.has(error.code) || user.can('manage_options'))) return error;
  return errors.form_failed({
    values: { reason: form.texts.error || 'This did not work. Please try again in a moment.' },
  });
}
