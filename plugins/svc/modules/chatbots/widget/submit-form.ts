import type { RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { checkForm } from '../forms/check-form.ts';
import type { BotForm, CheckedForm } from '../forms/form.ts';
import type { Conversation } from '../conversations/conversation.ts';
import { widgetMessage } from './response-mappers.ts';
import { pageUrl, text } from './parameters.ts';
import type { FormResponse, WidgetMessage } from './protocol.ts';
import { formOf, changesConversation, type RuleResult } from './rule-outcomes.ts';
import type { Visitor } from './visitor.ts';
import type { Widget } from './widget.ts';

interface CheckedSubmission {
  readonly visitor: Visitor;
  readonly uuid: string;
  /** Null: nothing of it is kept. */
  readonly conversation: Conversation | null;
  readonly form: BotForm;
  readonly submissionId: string;
  readonly answers: CheckedForm;
  readonly pageUrl: string;
  readonly pageId: number | undefined;
}

/** Takes a form that a rule showed: checked, stored, told, and answered by the rules of `form_submitted`. The same sent again changes nothing. */
export async function submitForm(widget: Widget, visitor: Visitor, request: RestRequest): Promise<FormResponse> {
  const uuid = text(request, 'conversation');
  const conversation = await widget.threads.own(visitor, uuid);
  const form = visitor.bot.forms.find(({ id }) => id === text(request, 'form_id'));
  if (form === undefined) throw errors.form_not_found();
  const answers = checkForm(form, request.params['values'] as Readonly<Record<string, unknown>>);
  const pageId = request.params['page_id'];
  const submitting: CheckedSubmission = {
    visitor,
    uuid,
    conversation,
    form,
    answers,
    submissionId: text(request, 'submission_id').toLowerCase(),
    pageUrl: pageUrl(request),
    pageId: typeof pageId === 'number' ? pageId : undefined,
  };
  const outcome = await widget.rules.run(['form_submitted'], {
    visitor,
    conversation: uuid,
    message: '',
    messageCount: conversation?.messageCount ?? 0,
    pageUrl: submitting.pageUrl,
    variables: conversation?.variables ?? {},
    fields: answers.display_values,
    formId: form.id,
  });
  const { isNew, message } = await store(widget, submitting, outcome);
  if (isNew) widget.rules.call(outcome);
  return { thanks: form.thanks, message, form: formOf(visitor.bot, outcome.forms) };
}

/** In one transaction: the submission, its event, what rules say and keep. */
function store(
  widget: Widget,
  submitting: CheckedSubmission,
  outcome: RuleResult,
): Promise<{ readonly isNew: boolean; readonly message: WidgetMessage | null }> {
  const { host, events, submissions, acts } = widget;
  const { visitor, uuid, conversation, form, submissionId, answers, pageUrl: url, pageId } = submitting;
  return host.database.transaction(async () => {
    const { userId, sessionId } = visitor.owner;
    const isNew =
      conversation === null
        ? await acts.once('form', [uuid, submissionId])
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
      const scene = { bot: visitor.bot, userId, conversation: uuid, messageCount: conversation?.messageCount ?? 0 };
      await events.form(scene, {
        form,
        submissionId,
        answers,
        page: { url, ...(pageId !== undefined && { id: pageId }) },
      });
    }
    return { isNew, message: await say(widget, { submitting, outcome, isNew }) };
  });
}

/** What rules say to it, as a message of the bot, and what they keep. */
async function say(
  { host, conversations, events, ids }: Widget,
  {
    submitting,
    outcome,
    isNew,
  }: { readonly submitting: CheckedSubmission; readonly outcome: RuleResult; readonly isNew: boolean },
): Promise<WidgetMessage | null> {
  const { visitor, uuid, conversation, submissionId, answers } = submitting;
  if (conversation !== null && isNew && changesConversation(outcome, visitor.bot)) {
    await conversations.update(conversation.id, {
      variables: outcome.variables,
      ...(outcome.stored.length > 0 && { stored: [...conversation.stored, ...outcome.stored] }),
    });
  }
  const said = outcome.reply ?? outcome.block;
  if (said === null) return null;
  const id = await ids.make(['answer', uuid], ['form', submissionId]);
  if (conversation === null)
    return {
      id,
      role: 'assistant',
      content: said,
      created_at: new Date(host.clock.now()).toISOString(),
      sources: [],
      is_partial: false,
      feedback: 'none',
    };
  if (isNew) {
    const { conversation: changed } = await conversations.append(conversation.id, [
      { id, role: 'assistant', content: said },
    ]);
    const scene = { bot: visitor.bot, userId: visitor.user.id, conversation: uuid, messageCount: changed.messageCount };
    await events.response(scene, {
      message: { id: submissionId, text: answers.summary },
      response: { id, text: said },
    });
  }
  const stored = await conversations.message(conversation.id, id);
  return stored === null ? null : widgetMessage(stored);
}
