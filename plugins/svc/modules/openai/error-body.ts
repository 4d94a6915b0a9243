import { asRecord, isRecord, type RestErrorBody } from '#plugin-api';
import { wrongParam } from '../../kit/wrong-param.ts';
import { rejectionIn } from '../../kit/vendor-status.ts';

/** An error in OpenAI's shape, with the service's own inside. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    /** Name of the parameter that is wrong, or null. */
    readonly param: string | null;
    readonly code: string;
    /** What Azure's filter found, as Azure has it. */
    readonly innererror?: Readonly<Record<string, unknown>>;
    readonly svc: Readonly<Record<string, unknown>>;
  };
}

const codes: Readonly<Record<string, string>> = {
  rest_svc_invalid_api_key: 'invalid_api_key',
  rest_svc_parameter_not_supported: 'unsupported_parameter',
  rest_svc_parameter_unknown: 'unknown_parameter',
  rest_svc_model_not_found: 'model_not_found',
  rest_svc_model_prefix_unknown: 'model_not_found',
  rest_svc_bot_not_found: 'model_not_found',
  rest_svc_budget_exhausted: 'insufficient_quota',
  rest_svc_rate_limited: 'rate_limit_exceeded',
  rest_svc_provider_rate_limited: 'rate_limit_exceeded',
  rest_missing_callback_param: 'missing_required_parameter',
  rest_invalid_param: 'invalid_value',
  rest_no_route: 'unknown_url',
};

/** The body of an error in OpenAI's shape: `error.svc` has the code, the status and the data of the usual body. */
export function openAiErrorBody({ code, message, data }: RestErrorBody): OpenAiError {
  const details = asRecord(data);
  const status = typeof details['status'] === 'number' ? details['status'] : 500;
  // Running calls hold what is left of a budget: it is not used up.
  const isBusy = details['is_reserved'] === true;
  const rejection = rejectionIn(details);
  const known = isBusy
    ? 'rate_limit_exceeded'
    : (rejection?.code ?? (Object.hasOwn(codes, code) ? codes[code] : undefined));
  const wrong = wrongParam({ code, message, data });
  return {
    error: {
      message: wrong.message,
      type: errorType(status, known),
      param: wrong.param ?? rejection?.param ?? null,
      code: known ?? code,
      ...(isRecord(details['filtered']) && {
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: details['filtered'] },
      }),
      svc: { ...details, code, status },
    },
  };
}

function errorType(status: number, code: string | undefined): string {
  if (code === 'insufficient_quota') return code;
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}
