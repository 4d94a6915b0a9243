import type { RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { checkForm } from '../forms/check-form.ts';
import type { BotForm, CheckedForm } from '../forms/form.ts';
import type { Conversation } from '../conversations/conversation.ts';
import { widgetMessage } from './response-mappers.ts';
import { pageUrlParam, textParam } from './parameters.ts';
import type { FormResponse, WidgetMessage } from './protocol.ts';
import { changedVariables, findForm, changesConversation, type RuleResult } from './rule-outcomes.ts';
import type { Visitor } from './visitor.ts';
import type { Widget } from './widget.ts';

interface CheckedSubmission {
  readonly visitor: Visitor;
  readonly uuid: string;
  /** Null when the conversation is not stored. */
  readonly conversation: Conversation | null;
  readonly form: BotForm;
  readonly submissionId: string;
  readonly answers: CheckedForm;
  readonly pageUrl: string;
  readonly pageId: number | undefined;
}

/**
 * Accepts a form that a rule displayed: checks and stores the values, emits the event, and runs the rules of
 * `form_submitted`. The same submission sent again changes nothing.
 */
export async function submitForm(widget: Widget, visitor: Visitor, request: RestRequest): Promise<FormResponse> {
  const uuid = textParam(request, 'conversation');
  const conversation = await widget.threads.findOwn(visitor, uuid);
  const form = visitor.bot.forms.find(({ id }) => id === textParam(request, 'form_id'));
  if (form === undefined) throw errors.form_not_found();
  const answers = checkForm(form, request.params['values'] as Readonly<Record<string, unknown>>, {
    // Whole, because its last query parameters may be needed.
    pageUrl: pageUrlParam(request, Infinity),
    pageTitle: textParam(request, 'page_title'),
    user: visitor.user,
  });
  const pageId = request.params['page_id'];
  const submission: CheckedSubmission = {
    visitor,
    uuid,
    conversation,
    form,
    answers,
    submissionId: textParam(request, 'submission_id').toLowerCase(),
    pageUrl: pageUrlParam(request),
    pageId: typeof pageId === 'number' ? pageId : undefined,
  };
  const outcome = await widget.rules.run(['form_submitted'], {
    visitor,
    conversation: uuid,
    message: '',
    messageCount: conversation?.messageCount ?? 0,
    pageUrl: submission.pageUrl,
    variables: conversation?.variables ?? {},
    fields: answers.display_values,
    formId: form.id,
  });
  const { isNew, message } = await storeSubmission(widget, submission, outcome);
  if (isNew) widget.rules.callHooks(outcome);
  return { thanks: form.thanks, message, form: findForm(visitor.bot, outcome.forms) };
}

/** Stores the submission, its event and the results of rules in one transaction. */
function storeSubmission(
  widget: Widget,
  submission: CheckedSubmission,
  outcome: RuleResult,
): Promise<{ readonly isNew: boolean; readonly message: WidgetMessage | null }> {
  const { host, events, submissions, idempotencyKeys } = widget;
  const { visitor, uuid, conversation, form, submissionId, answers, pageUrl: url, pageId } = submission;
  return host.database.transaction(async () => {
    const { userId, sessionId } = visitor.owner;
    const isNew =
      conversation === null
        ? await idempotencyKeys.claim('form', [uuid, submissionId])
        : await submissions.add({
            ...answers,
            id: submissionId,
            botId: visitor.bot.id,
            formId: form.id,
            formName: form.name,
            conversation: uuid,
            userId,
            sessionId,
            pageUrl: url,
            createdAt: host.clock.now(),
          });
    if (!isNew && conversation !== null && (await submissions.find(submissionId))?.conversation !== uuid)
      throw errors.form_not_found();
    if (isNew) {
      const subject = {
        bot: visitor.bot,
        userId,
        sessionId,
        conversation: uuid,
        messageCount: conversation?.messageCount ?? 0,
      };
      await events.form(subject, {
        form,
        submissionId,
        answers,
        page: { url, ...(pageId !== undefined && { id: pageId }) },
      });
    }
    return { isNew, message: await applyRules(widget, { submission, outcome, isNew }) };
  });
}

/** Stores what rules changed, and returns their reply as a message of the bot. */
async function applyRules(
  { host, conversations, events, ids }: Widget,
  {
    submission,
    outcome,
    isNew,
  }: { readonly submission: CheckedSubmission; readonly outcome: RuleResult; readonly isNew: boolean },
): Promise<WidgetMessage | null> {
  const { visitor, uuid, conversation, submissionId, answers } = submission;
  if (conversation !== null && isNew && changesConversation(outcome, visitor.bot)) {
    await conversations.update(conversation.id, {
      variables: changedVariables(conversation.variables, outcome.variables),
      stored: outcome.stored,
    });
  }
  const reply = outcome.reply ?? outcome.block;
  if (reply === null) return null;
  const id = await ids.create(['answer', uuid], ['form', submissionId]);
  if (conversation === null)
    return {
      id,
      role: 'assistant',
      content: reply,
      created_at: new Date(host.clock.now()).toISOString(),
      sources: [],
      is_partial: false,
      feedback: 'none',
    };
  if (isNew) {
    const { conversation: changed } = await conversations.append(conversation.id, [
      { id, role: 'assistant', content: reply },
    ]);
    const subject = {
      bot: visitor.bot,
      ...visitor.owner,
      conversation: uuid,
      messageCount: changed.messageCount,
    };
    await events.response(subject, {
      message: { id: submissionId, text: answers.summary },
      response: { id, text: reply },
    });
  }
  const stored = await conversations.message(conversation.id, id);
  return stored === null ? null : widgetMessage(stored);
}
