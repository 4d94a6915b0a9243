/** What happened to a call, by the outcome that the ledger stores: `ok` or the code of an error. */
const labels: Readonly<Record<string, string>> = {
  ok: 'Succeeded',
  rest_internal_error: 'The service failed',
  rest_svc_budget_exhausted: 'A budget was used up',
  rest_svc_budget_no_price: 'A budget had no price',
  rest_svc_budget_unpriced_param: 'A budget had no price',
  rest_svc_model_cannot_see: 'The model cannot read images',
  rest_svc_output_cut: 'The data was cut at its length limit',
  rest_svc_output_filtered: 'A content filter removed data',
  rest_svc_output_invalid: 'The data was not as requested',
  rest_svc_parameter_not_supported: 'The model lacks a parameter',
  rest_svc_provider_auth_failed: 'The provider refused the key',
  rest_svc_provider_error: 'The provider failed',
  rest_svc_provider_not_configured: 'The provider was not configured',
  rest_svc_provider_rate_limited: 'The provider limited the rate',
  rest_svc_provider_rejected: 'The provider refused the request',
  rest_svc_provider_timeout: 'The provider took too long',
  rest_svc_request_aborted: 'The caller gave up',
  rest_svc_secret_unreadable: 'A saved key could not be read',
};

/** A text to translate; the code itself for an error of another plugin. */
export function outcomeLabel(outcome: string): string {
  return Object.hasOwn(labels, outcome) ? (labels[outcome] ?? outcome) : outcome;
}
