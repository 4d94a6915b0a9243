import { defineErrors } from '#plugin-api';

/**
 * Every error a caller of the service can meet (contract 7, D5), besides the host's own of D4.
 * Each entry makes a RestError: `errors.provider_rejected({values: {provider: 'OpenAI', reason}, data: {provider: 'openai', provider_status: 400}})`.
 *
 * Provider errors carry `data.provider` (id) and `data.provider_status` (HTTP status of the far end, or null).
 * `{reason}` is the far end's own sentence, with secrets cut out.
 */
export const errors = defineErrors('rest_svc_', {
  invalid_api_key: [401, 'Invalid or missing API Key.'],

  streaming_not_supported: [400, 'Streaming is not supported. Leave out stream, or set it to false.'],
  invalid_messages: [400, 'messages must hold at least one message whose content is not blank.'],
  invalid_last_message: [400, 'The last message must have the role user and content that is not blank.'],
  empty_input: [400, '{name} must not be blank.'],
  duplicate_vector_id: [400, 'The id {id} is used by more than one vector. Give each vector an id of its own.'],
  vector_dimension_mismatch: [
    400,
    '{target} holds vectors of {expected} dimensions, but {model} gives {actual}. Use an embedding model with {expected} dimensions, or another target.',
  ],
  provider_not_configured: [400, '{provider} is not configured. Save its {missing} in the admin under AI service.'],
  provider_rejected: [400, '{provider} refused the request: {reason}'],

  origin_not_allowed: [403, 'This chatbot may not be embedded on this site. Add its domain to the allowed domains of the chatbot.'],

  bot_not_found: [404, 'There is no chatbot with the id {id}.'],
  vector_target_not_found: [404, '{provider} has no index or collection named {target}. Create it first.'],

  provider_rate_limited: [429, '{provider} is limiting the rate of requests: {reason}'],
  rate_limited: [429, 'Too many requests. Try again in {seconds} seconds.'],
  budget_exhausted: [429, 'The budget for this period is used up. Try again in {seconds} seconds.'],

  provider_auth_failed: [502, '{provider} refused the saved credentials: {reason} Check its key in the admin under AI service.'],
  provider_error: [502, '{provider} failed: {reason}'],
  vector_store_error: [502, '{provider} failed: {reason}'],

  media_not_saved: [500, 'The image could not be saved in the media library: {reason} Ask for response_format b64_json to get images without saving them.'],

  provider_timeout: [504, '{provider} did not answer within {seconds} seconds.'],
});
