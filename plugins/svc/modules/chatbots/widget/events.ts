import type { HostApi } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import type { Bot } from '../bots/bot.ts';
import type { StoredMessage } from '../conversations/conversation.ts';
import type { feedbackSubmittedEvent } from '../feedback-submitted.event.ts';
import type { chatbotFormSubmittedEvent } from '../form-submitted.event.ts';
import type { CheckedForm } from '../forms/form.ts';
import type { responseGeneratedEvent } from '../response-generated.event.ts';
import type { sessionStartedEvent } from '../session-started.event.ts';
import type { userMessageSubmittedEvent } from '../user-message-submitted.event.ts';

/** The bot, visitor and conversation of an event: the fields that all chatbot events share (contract 6.5). */
export interface EventSubject {
  readonly bot: Pick<Bot, 'id' | 'name' | 'provider' | 'model' | 'privacy'>;
  /** 0 for a guest. */
  readonly userId: number;
  readonly sessionId: string | null;
  /** UUID. */
  readonly conversation: string;
  /** Messages of the conversation, including the one of this event. */
  readonly messageCount: number;
}

export interface MessageText {
  readonly id: string;
  readonly text: string;
}

export interface WidgetEvents {
  sessionStarted(subject: EventSubject, message: MessageText): Promise<void>;
  userMessage(subject: EventSubject, message: MessageText): Promise<void>;
  /** @param ai provider and model of the response; omitted for a reply by a rule */
  response(
    subject: EventSubject,
    exchange: { readonly message: MessageText; readonly response: MessageText; readonly ai?: AiModel | undefined },
  ): Promise<void>;
  feedback(
    subject: EventSubject,
    message: Pick<StoredMessage, 'id' | 'feedback' | 'comment' | 'feedbackRevision' | 'provider' | 'model'>,
  ): Promise<void>;
  form(
    subject: EventSubject,
    submitted: {
      readonly form: { readonly id: string; readonly name: string };
      readonly submissionId: string;
      readonly answers: CheckedForm;
      readonly page: { readonly id?: number; readonly url: string };
    },
  ): Promise<void>;
}

interface AiModel {
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
}

interface EventInit {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Natural ids that the data does not contain (D19). */
  readonly key?: readonly (string | number)[];
}

export interface EventParts {
  readonly host: Pick<HostApi, 'hooks'>;
  /** Display name of the bot's provider, and its model or the one saved for the provider. */
  readonly findAi: (bot: EventSubject['bot']) => Promise<AiModel>;
}

/** The five events of chatbots (contract 6.2, D17 to D19). Each is stored in the running transaction and never throws. */
export function createWidgetEvents({ host, findAi }: EventParts): WidgetEvents {
  const emit = ({ bot, userId, sessionId }: EventSubject, { name, data, key = [] }: EventInit): Promise<void> =>
    host.hooks.doActionAsync('svc_event_emit', name, data, {
      keep: bot.privacy.keep,
      person: { userId, sessionId },
      ...(key.length > 0 && { key }),
    });

  const commonData = async ({ bot, userId, conversation, messageCount }: EventSubject) => ({
    bot: { id: bot.id, name: bot.name },
    conversation: { id: conversation, message_count: messageCount },
    actor: userId > 0 ? { type: 'user' as const, user_id: userId } : { type: 'guest' as const },
    ai: await findAi(bot),
  });

  return {
    async sessionStarted(subject, message) {
      const data = { ...(await commonData(subject)), message } satisfies EventData<typeof sessionStartedEvent>;
      await emit(subject, { name: 'chatbot.session_started', data });
    },
    async userMessage(subject, message) {
      const data = { ...(await commonData(subject)), message } satisfies EventData<typeof userMessageSubmittedEvent>;
      await emit(subject, { name: 'chatbot.user_message_submitted', data });
    },
    async response(subject, { message, response, ai }) {
      const common = await commonData(subject);
      const data = { ...common, message, response, ai: ai ?? common.ai } satisfies EventData<
        typeof responseGeneratedEvent
      >;
      await emit(subject, { name: 'chatbot.response_generated', data });
    },
    async feedback(subject, { id, feedback, comment, feedbackRevision, provider, model }) {
      const common = await commonData(subject);
      const ai = provider !== null && model !== null ? { provider, model } : common.ai;
      const rating = { value: feedback, message_id: id, comment };
      // Up, none and up again are three events: the revision distinguishes them (D19).
      const data = { ...common, ai, feedback: rating } satisfies EventData<typeof feedbackSubmittedEvent>;
      await emit(subject, { name: 'chatbot.fb_submitted', data, key: [feedbackRevision] });
    },
    async form(subject, { form, submissionId, answers, page }) {
      const { inputs, display_values, labels, summary } = answers;
      const data = {
        ...(await commonData(subject)),
        form: { id: form.id, name: form.name },
        submission: { id: submissionId },
        inputs,
        display_values,
        labels,
        summary,
        ...((page.url !== '' || page.id !== undefined) && {
          page: { ...(page.id !== undefined && { id: page.id }), ...(page.url !== '' && { url: page.url }) },
        }),
      } satisfies EventData<typeof chatbotFormSubmittedEvent>;
      await emit(subject, { name: 'chatbot.form_submitted', data, key: [subject.conversation] });
    },
  };
}
