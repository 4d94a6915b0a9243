import type { OpenApiObject } from '#plugin-api';

/** The shape of every error (contract 7, D4). */
export const errorSchemas: Readonly<Record<string, OpenApiObject>> = {
  Error: {
    type: 'object',
    required: ['code', 'message', 'data'],
    properties: {
      code: { type: 'string', description: 'Stable error code.', examples: ['rest_invalid_param'] },
      message: { type: 'string', description: 'Explanation for people.' },
      data: {
        description: 'The status and details of the error: names of missing parameters, or messages by parameter.',
        anyOf: [
          {
            type: 'object',
            properties: {
              status: { type: 'integer', minimum: 400, maximum: 599 },
              params: {
                anyOf: [
                  { type: 'array', items: { type: 'string' } },
                  { type: 'object', additionalProperties: { type: 'string' } },
                ],
              },
              details: {
                anyOf: [
                  { type: 'object', additionalProperties: { $ref: '#/components/schemas/Error' } },
                  { type: 'array', maxItems: 0, items: {}, description: 'No details.' },
                ],
              },
            },
          },
          { type: ['string', 'number', 'boolean', 'array', 'null'], items: {} },
        ],
      },
      additional_errors: { type: 'array', items: { $ref: '#/components/schemas/Error' } },
    },
  },
};

export const errorHeaders: Readonly<Record<string, OpenApiObject>> = {
  RequestId: {
    description: 'Identifies the request in the site’s log. Include it when you contact the administrator.',
    schema: { type: 'string' },
  },
};

const sentences = {
  400: [
    'BadRequest',
    'A parameter is missing (rest_missing_callback_param) or not valid (rest_invalid_param), ' +
      'or the JSON body cannot be read (rest_invalid_json).',
  ],
  401: ['Unauthorized', 'The caller is not signed in, or the key or password is missing or wrong.'],
  403: [
    'Forbidden',
    'The caller may not do this (rest_forbidden), or the nonce is too old (rest_cookie_invalid_nonce).',
  ],
  404: ['NotFound', 'Nothing was found at this URL.'],
  413: ['PayloadTooLarge', 'The body exceeds the limit of this route (rest_body_too_large).'],
  429: [
    'TooManyRequests',
    'Too many anonymous requests from this address (rest_rate_limited). Wait for the seconds in Retry-After.',
  ],
  500: [
    'InternalError',
    'An unexpected error (rest_internal_error). The site’s log shows the cause under the request id.',
  ],
} as const;

export type ErrorStatus = keyof typeof sentences;

/** Name and content of a shared response. @param content of the route's errors */
export function sharedErrorResponse(
  status: ErrorStatus,
  content: OpenApiObject,
): { readonly name: string; readonly response: OpenApiObject } {
  const [name, description] = sentences[status];
  const wait =
    status === 429 ? { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } } : {};
  return {
    name,
    response: {
      description,
      headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' }, ...wait },
      content,
    },
  };
}

export function errorContent(): OpenApiObject {
  return { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
}
