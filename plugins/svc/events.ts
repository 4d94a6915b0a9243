import type { EventDefinition } from './kit/define-event.ts';
import { formSubmittedEvent } from './modules/ai-forms/form-submitted.event.ts';
import { itemCompletedEvent } from './modules/automations/item-completed.event.ts';
import { feedbackSubmittedEvent } from './modules/chatbots/feedback-submitted.event.ts';
import { chatbotFormSubmittedEvent } from './modules/chatbots/form-submitted.event.ts';
import { responseGeneratedEvent } from './modules/chatbots/response-generated.event.ts';
import { sessionStartedEvent } from './modules/chatbots/session-started.event.ts';
import { userMessageSubmittedEvent } from './modules/chatbots/user-message-submitted.event.ts';
import { contentGeneratedEvent } from './modules/content-writer/content-generated.event.ts';
import { imageGeneratedEvent } from './modules/images/image-generated.event.ts';
import { sourceIndexedEvent } from './modules/knowledge-base/source-indexed.event.ts';

/** The events of the service, in the order of contract 6.2. */
export const serviceEvents: readonly EventDefinition[] = [
  sessionStartedEvent,
  userMessageSubmittedEvent,
  responseGeneratedEvent,
  feedbackSubmittedEvent,
  chatbotFormSubmittedEvent,
  contentGeneratedEvent,
  itemCompletedEvent,
  formSubmittedEvent,
  imageGeneratedEvent,
  sourceIndexedEvent,
];
