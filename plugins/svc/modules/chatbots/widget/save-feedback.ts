import type { RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import '../hooks.ts';
import type { FeedbackValue, StoredMessage } from '../conversations/conversation.ts';
import { textParam } from './parameters.ts';
import type { FeedbackResponse } from './protocol.ts';
import type { Visitor } from './visitor.ts';
import type { Widget } from './widget.ts';

/** Rates an answer. Each change emits an event; the same rating sent again does not. */
export async function saveFeedback(widget: Widget, visitor: Visitor, request: RestRequest): Promise<FeedbackResponse> {
  const { host, conversations, threads, events, ids, idempotencyKeys } = widget;
  const { bot } = visitor;
  const uuid = textParam(request, 'conversation');
  const conversation = await threads.findOwn(visitor, uuid);
  if (!bot.feedback) throw errors.feedback_off();
  const messageId = textParam(request, 'message_id');
  const value = textParam(request, 'value') as FeedbackValue;
  // A comment belongs to a rating and is removed with it.
  const comment = value === 'none' ? '' : textParam(request, 'comment').trim();
  const subject = { bot, ...visitor.owner, conversation: uuid };
  if (conversation === null) {
    if (!(await ids.verify(messageId, ['answer', uuid]))) throw errors.message_not_found();
    await host.database.transaction(async () => {
      const revision = await idempotencyKeys.recordChange(
        'feedback',
        [uuid, messageId],
        JSON.stringify([value, comment]),
      );
      if (revision !== null)
        await events.feedback(
          { ...subject, messageCount: 0 },
          { id: messageId, feedback: value, comment, feedbackRevision: revision, provider: null, model: null },
        );
    });
    return { value, comment };
  }
  const answer = await conversations.message(conversation.id, messageId);
  if (answer?.role !== 'assistant') throw errors.message_not_found();
  await host.database.transaction(async () => {
    const rated = await conversations.setFeedback(conversation.id, { messageId, value, comment });
    if (rated === null) return;
    await events.feedback({ ...subject, messageCount: conversation.messageCount }, rated);
    if (host.hooks.hasAction('svc_chatbot_rated') === false) return;
    const question = questionBefore(await conversations.messages(conversation.id), messageId);
    await host.hooks.doActionAsync('svc_chatbot_rated', {
      bot,
      userId: subject.userId,
      conversation: uuid,
      messageId,
      value,
      comment,
      question,
      answer: rated.content,
    });
  });
  return { value, comment };
}

/** The latest message of the visitor before an answer. */
function questionBefore(messages: readonly StoredMessage[], answerId: string): string {
  const before = messages.slice(
    0,
    Math.max(
      0,
      messages.findIndex(({ id }) => id === answerId),
    ),
  );
  return before.findLast(({ role }) => role === 'user')?.content ?? '';
}
