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

/** Where an act took place; what every chatbot event tells of it (contract 6.5). */
export interface Scene {
  readonly bot: Pick<Bot, 'id' | 'name' | 'provider' | 'model'>;
  /** 0: a guest. */
  readonly userId: number;
  /** UUID. */
  readonly conversation: string;
  /** Messages of it, this act included. */
  readonly messageCount: number;
}

export interface Said {
  readonly id: string;
  readonly text: string;
}

export interface WidgetEvents {
  sessionStarted(scene: Scene, message: Said): Promise<void>;
  userMessage(scene: Scene, message: Said): Promise<void>;
  /** @param response `ai`: what made it; left out for words of a rule. */
  response(
    scene: Scene,
    said: { readonly message: Said; readonly response: Said; readonly ai?: Ai | undefined },
  ): Promise<void>;
  feedback(
    scene: Scene,
    message: Pick<StoredMessage, 'id' | 'feedback' | 'comment' | 'feedbackRevision' | 'provider' | 'model'>,
  ): Promise<void>;
  form(
    scene: Scene,
    submitted: {
      readonly form: { readonly id: string; readonly name: string };
      readonly submissionId: string;
      readonly answers: CheckedForm;
      readonly page: { readonly id?: number; readonly url: string };
    },
  ): Promise<void>;
}

interface Ai {
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
}

export interface EventParts {
  readonly host: Pick<HostApi, 'hooks'>;
  /** Display name of a provider, and the model saved for it. */
  readonly aiOf: (bot: Scene['bot']) => Promise<Ai>;
}

/** The five events of chatbots (contract 6.2, D17 to D19). Each is stored with the transaction it is sent in, and never throws. */
export function createWidgetEvents({ host, aiOf }: EventParts): WidgetEvents {
  const emit = (
    name: string,
    data: Readonly<Record<string, unknown>>,
    key: readonly (string | number)[] = [],
  ): Promise<void> => host.hooks.doActionAsync('svc_event_emit', name, data, { ...(key.length > 0 && { key }) });

  const common = async ({ bot, userId, conversation, messageCount }: Scene) => ({
    bot: { id: bot.id, name: bot.name },
    conversation: { id: conversation, message_count: messageCount },
    actor: userId > 0 ? { type: 'user' as const, user_id: userId } : { type: 'guest' as const },
    ai: await aiOf(bot),
  });

  return {
    async sessionStarted(scene, message) {
      await emit('chatbot.session_started', { ...(await common(scene)), message } satisfies EventData<
        typeof sessionStartedEvent
      >);
    },
    async userMessage(scene, message) {
      await emit('chatbot.user_message_submitted', { ...(await common(scene)), message } satisfies EventData<
        typeof userMessageSubmittedEvent
      >);
    },
    async response(scene, { message, response, ai }) {
      const data = await common(scene);
      await emit('chatbot.response_generated', { ...data, message, response, ai: ai ?? data.ai } satisfies EventData<
        typeof responseGeneratedEvent
      >);
    },
    async feedback(scene, { id, feedback, comment, feedbackRevision, provider, model }) {
      const data = await common(scene);
      const ai = provider !== null && model !== null ? { provider, model } : data.ai;
      const told = { value: feedback, message_id: id, comment };
      // Up, none and up again are three acts: the revision tells them apart (D19).
      await emit(
        'chatbot.fb_submitted',
        { ...data, ai, feedback: told } satisfies EventData<typeof feedbackSubmittedEvent>,
        [feedbackRevision],
      );
    },
    async form(scene, { form, submissionId, answers, page }) {
      const { inputs, display_values, labels, summary } = answers;
      await emit(
        'chatbot.form_submitted',
        {
          ...(await common(scene)),
          form: { id: form.id, name: form.name },
          submission: { id: submissionId },
          inputs,
          display_values,
          labels,
          summary,
          ...((page.url !== '' || page.id !== undefined) && {
            page: { ...(page.id !== undefined && { id: page.id }), ...(page.url !== '' && { url: page.url }) },
          }),
        } satisfies EventData<typeof chatbotFormSubmittedEvent>,
        [scene.conversation],
      );
    },
  };
}
