import { asRecord, type RestErrorBody } from '#plugin-api';
import { wrongParam } from '../../kit/wrong-param.ts';

/** An error in Anthropic's shape, with the service's own inside. */
export interface AnthropicError {
  readonly type: 'error';
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly svc: Readonly<Record<string, unknown>>;
  };
  readonly request_id: string;
}

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The body of an error in Anthropic's shape: `error.svc` has the code, the status and the data of the usual body. */
export function anthropicErrorBody(error: RestErrorBody, requestId: string): AnthropicError {
  const details = asRecord(error.data);
  const status = typeof details['status'] === 'number' ? details['status'] : 500;
  const isOverloaded = status >= 500 && details['provider_status'] === 529;
  const type = types[isOverloaded ? 529 : status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  const { message } = wrongParam(error);
  return {
    type: 'error',
    error: { type, message, svc: { ...details, code: error.code, status } },
    request_id: requestId,
  };
}
