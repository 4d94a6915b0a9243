const chat = ['bot.id', 'bot.name', 'conversation.id', 'conversation.message_count', 'actor.type', 'ai.provider', 'ai.model'];

/** Data fields of contract 6.5, by event. `actor.user_id` is there when it is known. */
export const contractFields: Readonly<Record<string, readonly string[]>> = {
  'chatbot.session_started': [...chat, 'message.text'],
  'chatbot.user_message_submitted': [...chat, 'actor.user_id', 'message.text'],
  'chatbot.response_generated': [...chat, 'actor.user_id', 'message.text', 'response.text'],
  'chatbot.fb_submitted': [...chat, 'feedback.value', 'feedback.message_id', 'feedback.comment'],
  'chatbot.form_submitted': [...chat, 'form.id', 'form.name', 'submission.id', 'inputs', 'inputs.email', 'inputs.first_name', 'display_values', 'labels', 'summary', 'page.id', 'page.url'],
  'content.generated': ['title', 'content', 'excerpt', 'meta_description', 'focus_keyword', 'tags', 'post.id', 'post.status', 'post.url', 'ai.provider', 'ai.model', 'task.id'],
  'task.item_completed': [
    'task.id', 'task.name', 'task.type', 'queue_item.id', 'queue_item.target_identifier', 'queue_item.status', 'queue_item.attempts', 'result.message', 'result.generated_post_id', 'ai.provider', 'ai.model',
  ],
  'form.submitted': ['form.id', 'form.name', 'submission.id', 'submission.count', 'inputs', 'response.text', 'ai.provider', 'ai.model', 'actor.type', 'actor.user_id'],
  'image.generated': ['prompt', 'provider', 'model', 'mode', 'media_type', 'output_count', 'outputs.images', 'outputs.videos', 'usage', 'actor.type'],
  'kb.source_indexed': [
    'source.log_id', 'source.post_id', 'source.post_title', 'source.post_url', 'provider', 'store.id', 'store.name', 'status', 'message', 'embedding.provider', 'embedding.model',
  ],
};
