import { defineErrors } from '#plugin-api';

/**
 * The errors that several parts of the service return (contract 7, D5), in addition to those of the host (D4). Each entry
 * creates a RestError:
 * `errors.provider_rejected({values: {provider: 'OpenAI', reason}, data: {provider: 'openai', provider_status: 400}})`.
 *
 * Provider errors have `data.provider` (id) and `data.provider_status` (HTTP status of the upstream response, or null).
 * `{reason}` is the upstream message without secrets.
 */
export const errors = defineErrors('rest_svc_', {
  invalid_api_key: [401, 'Invalid or missing API Key.'],
  key_revoked: [401, 'The key “{key}” was revoked. Create another one in the admin under API keys.'],
  key_expired: [401, 'The key “{key}” expired on {date}. Set a later date in the admin under API keys.'],
  key_replaced: [401, 'This secret of the key “{key}” was replaced. Use its new secret.'],
  key_out_of_scope: [403, 'The key “{key}” does not allow {what}. Add it to its {scope} in the admin under API keys.'],
  key_stored_models: [
    403,
    'The key “{key}” is limited to some models or providers, and what {param} names may use others. Omit it, and send what is ' +
      'stored there in the request.',
  ],
  key_stored_text: [
    403,
    'The key “{key}” cannot use {param}: other keys may have stored what it names. Omit it, and send the content in the ' +
      'request.',
  ],

  dry_run_refused: [
    403,
    'A dry run is for administrators. Sign in as one, or use an application password. Without dry_run the call is real.',
  ],
  dry_run_not_offered: [400, 'This route has no dry run. Omit dry_run: then the request is real.'],

  streaming_not_supported: [400, 'Streaming is not supported. Omit stream, or set it to false.'],
  invalid_messages: [400, 'messages must contain at least one message with content. Add one with the role user.'],
  invalid_last_message: [400, 'The last message must have the role user and must not be blank.'],
  empty_input: [400, '{name} must not be blank.'],
  duplicate_vector_id: [400, 'More than one vector has the id {id}. Give each vector a unique id.'],
  vector_dimension_mismatch: [
    400,
    '{target} stores vectors with {expected} dimensions, but {model} returns {actual}. Use another embedding model or target.',
  ],
  provider_not_configured: [400, '{provider} is not configured. Save its {missing} in the admin under AI service.'],
  secret_unreadable: [
    503,
    'The saved {names} of {provider} cannot be read: it was saved with another SECRET_KEY, or for another address. ' +
      'Restore the key, or enter it again in the admin under AI service.',
  ],
  budget_no_price: [
    400,
    '{model} of {provider} has no price, but the budget “{budget}” needs one. Add it in the admin under Prices, or with the ' +
      'command svc prices set. The budget can also count calls without a price as free.',
  ],
  budget_unpriced_param: [
    400,
    '{param} costs more than its tokens at {provider}, but has no price, and the budget “{budget}” needs one. Omit it, or let the ' +
      'budget count calls without a price as free.',
  ],
  provider_rejected: [400, '{provider} refused the request: {reason}'],

  parameter_unknown: [400, '{param} is not supported by these routes. Omit it.'],
  parameter_not_supported: [400, '{model} of {provider} does not support {param}. Omit it, or choose another model.'],
  output_invalid: [
    502,
    '{model} of {provider} did not return the requested data. {problem} Try again, or choose another model.',
  ],
  output_cut: [
    502,
    '{model} of {provider} reached the maximum response length before the data was complete. Raise the maximum, or request less.',
  ],
  output_filtered: [
    502,
    'The content filter of {provider} removed a part of what {model} wrote. Change the prompt, or choose another model.',
  ],
  tokens_not_supported: [
    400,
    '{model} of {provider} takes texts, not tokens. Send texts, as LangChain does with check_embedding_ctx_length=False.',
  ],
  model_cannot_see: [400, '{model} of {provider} cannot read images. Choose a model that can.'],
  image_not_editable: [400, '{model} of {provider} cannot edit images. Choose a model that can.'],
  image_unusable: [400, '{reason}'],

  images_not_offered: [
    403,
    'Image generation is turned off for visitors. An administrator can turn it on under Images.',
  ],
  image_refused: [403, '{reason}'],
  image_not_found: [404, 'Image not found. It may have been deleted.'],
  video_not_found: [404, 'Video not found. It may have been deleted.'],
  image_limit_reached: [429, '{reason}'],

  origin_not_allowed: [
    403,
    'This site may not embed the chatbot. Add its domain to the allowed domains of the chatbot.',
  ],
  form_origin_not_allowed: [
    403,
    'This site may not embed the form. Add its domain to the allowed domains of the form.',
  ],
  form_expired: [403, 'This form was open for too long. Reload the page and submit it again.'],
  session_invalid: [403, 'The chat session has expired. Start a new one.'],
  consent_required: [403, 'The terms of this chat are not accepted. Accept them to continue.'],
  message_refused: [403, '{reason}'],
  feedback_off: [403, 'Feedback is turned off for this chatbot. An administrator can turn it on in its settings.'],

  conversations_not_kept: [
    400,
    'This chatbot does not store conversations. Omit conversation_uuid, or turn on storage in its settings.',
  ],
  delivery_body_deleted: [
    409,
    'This delivery cannot be sent again: the body of its event was deleted for privacy. Its record stays in the log.',
  ],
  conversation_taken: [
    409,
    'The conversation {uuid} belongs to another chatbot, key, user or visitor. Use another conversation_uuid.',
  ],

  model_not_found: [404, 'There is no model {model}. List the available ones with GET {url}.'],
  model_prefix_unknown: [404, 'There is no provider {prefix}. Write the model as {spellings}, or as bot:<id>.'],
  model_vendor_missing: [
    404,
    '{model} is a model of {provider}, which is not set up, or which the key does not allow. Name the provider that has it too: ' +
      '{spellings}.',
  ],
  bot_not_found: [404, 'No chatbot has the id {id}. It may have been deleted.'],
  chat_not_available: [404, 'This chat is not available right now.'],
  conversation_not_found: [404, 'Conversation not found. It may have been deleted.'],
  message_not_found: [404, 'Message not found. It may have been deleted.'],
  form_not_found: [404, 'This chatbot has no such form. Reload the page.'],
  ai_form_not_available: [404, 'This form is not available right now.'],
  ai_form_not_found: [404, 'No form has the id {id}. It may have been deleted.'],
  submission_not_found: [404, 'Submission not found. It may have been deleted.'],
  vector_target_not_found: [404, '{provider} has no index or collection named {target}. Create it first.'],

  turn_running: [409, 'The last message is still being answered. Wait for it, or stop it.'],
  submission_running: [409, 'This submission is still being processed. Wait a moment and submit it again.'],
  submission_not_kept: [
    409,
    'This submission was already processed, and its response was not stored. Submit the form again.',
  ],
  message_followed: [409, 'Other messages followed this one. Send it again as a new message.'],

  provider_rate_limited: [429, '{provider} is limiting the rate of requests: {reason}'],
  rate_limited: [429, 'Too many requests. Try again {when}.'],
  budget_exhausted: [429, 'The budget “{budget}” is used up for {period}. It resets on {date}.'],
  guests_not_allowed: [403, '{reason}'],
  chat_limit_reached: [429, '{reason}'],
  form_limit_reached: [429, '{reason}'],

  provider_auth_failed: [
    502,
    '{provider} refused the saved credentials: {reason} Check its key in the admin under AI service.',
  ],
  chat_failed: [502, '{reason}'],
  form_failed: [502, '{reason}'],
  form_declined: [403, '{reason}'],
  form_answer_empty: [502, 'The model returned an empty response. Try again, or change the prompt.'],
  provider_error: [502, '{provider} failed: {reason}'],
  vector_store_error: [502, '{provider} failed: {reason}'],

  content_empty: [502, '{part}: the model returned an empty response. Try again, or change its prompt.'],
  source_unreadable: [400, '{url}: {reason}'],

  media_not_saved: [500, 'Images were generated but could not be saved to the media library: {reason}'],

  video_not_saved: [500, 'The video was generated but could not be saved to the media library: {reason}'],
  video_start_unknown: [
    502,
    'The server stopped while the video was requested. It may have been charged. Check your account, then try again.',
  ],

  provider_timeout: [504, '{provider} did not respond within {seconds} seconds. Try again later.'],
});
