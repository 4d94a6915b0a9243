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
  budget_no_price: [
    400,
    '{model} of {provider} has no price, and the budget “{budget}” counts dollars. Add a price in the admin under AI service, Prices, or have the budget count calls without a price as free.',
  ],
  provider_rejected: [400, '{provider} refused the request: {reason}'],

  image_not_editable: [400, '{model} of {provider} draws images, but cannot edit any. Choose another model.'],
  image_unusable: [400, '{reason}'],

  images_not_offered: [403, 'Images are not drawn for visitors here.'],
  image_refused: [403, '{reason}'],
  image_not_found: [404, 'There is no such image. It may have been deleted.'],
  image_limit_reached: [429, '{reason}'],

  origin_not_allowed: [
    403,
    'This chatbot may not be embedded on this site. Add its domain to the allowed domains of the chatbot.',
  ],
  form_origin_not_allowed: [
    403,
    'This form may not be shown on this site. Add its domain to the allowed domains of the form.',
  ],
  form_expired: [403, 'This form was open for too long. Reload the page and send it again.'],
  session_invalid: [403, 'The chat session has ended. Start it again.'],
  consent_required: [403, 'The terms of this chat have not been accepted.'],
  message_refused: [403, '{reason}'],
  feedback_off: [403, 'Answers of this chatbot are not rated.'],

  conversations_not_kept: [
    400,
    'This chatbot keeps no conversations. Leave out conversation_uuid, or have it keep them.',
  ],
  conversation_taken: [
    409,
    'The conversation {uuid} belongs to another chatbot or to a visitor. Use a conversation_uuid of your own.',
  ],

  bot_not_found: [404, 'There is no chatbot with the id {id}.'],
  conversation_not_found: [404, 'There is no such conversation.'],
  message_not_found: [404, 'There is no such message.'],
  form_not_found: [404, 'This chatbot has no such form.'],
  ai_form_not_found: [404, 'There is no form with the id {id}.'],
  submission_not_found: [404, 'There is no such submission. It may have been deleted.'],
  vector_target_not_found: [404, '{provider} has no index or collection named {target}. Create it first.'],

  turn_running: [409, 'The last message is still being answered. Wait for it, or stop it.'],
  submission_running: [409, 'This is still being answered. Wait a moment and send it again.'],
  submission_not_kept: [409, 'This was answered already, and its answer was not kept. Send it anew.'],
  message_followed: [409, 'Other messages came after this one. Send it again as a new one.'],

  provider_rate_limited: [429, '{provider} is limiting the rate of requests: {reason}'],
  rate_limited: [429, 'Too many requests. Try again in {seconds} seconds.'],
  budget_exhausted: [429, 'The budget “{budget}” is used up for {period}. Try again in {seconds} seconds.'],
  chat_limit_reached: [429, '{reason}'],
  form_limit_reached: [429, '{reason}'],

  provider_auth_failed: [
    502,
    '{provider} refused the saved credentials: {reason} Check its key in the admin under AI service.',
  ],
  chat_failed: [502, '{reason}'],
  form_failed: [502, '{reason}'],
  form_answer_empty: [502, 'The model answered nothing. Try again, or change the prompt.'],
  provider_error: [502, '{provider} failed: {reason}'],
  vector_store_error: [502, '{provider} failed: {reason}'],

  content_empty: [502, '{part}: the model answered nothing. Try again, or change its prompt.'],
  source_unreadable: [400, '{url}: {reason}'],

  media_not_saved: [
    500,
    'The image could not be saved in the media library: {reason} Ask for response_format b64_json to get images without saving them.',
  ],

  provider_timeout: [504, '{provider} did not answer within {seconds} seconds.'],
});
