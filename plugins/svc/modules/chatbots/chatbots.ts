import { lazy } from '#plugin-api';
import { knownNames } from '../../ai/answerers/known-names.ts';
import type { ServiceContext } from '../../wiring.ts';
import { partsOf } from '../../kit/parts-of.ts';
import { firstModel } from '../../settings/example-model.ts';
import type { BotStore } from './bots/bot.ts';
import { createBotStore } from './bots/bot-store.ts';
import type { ConversationStore } from './conversations/conversation.ts';
import { createConversationStore } from './conversations/conversation-store.ts';
import { createSubmissionStore } from './forms/submission-store.ts';
import type { SubmissionStore } from './forms/submission.ts';
import type { CreateReply } from './reply/reply.ts';

/** What the routes, pages and commands of chatbots share. One per context. */
export interface Chatbots {
  readonly bots: BotStore;
  readonly conversations: ConversationStore;
  readonly submissions: SubmissionStore;
  readonly reply: CreateReply;
}

/** The parts of chatbots in this process. */
export const chatbotsOf: (context: ServiceContext) => Chatbots = partsOf((context) => ({
  reply: lazy(async () => (await import('./reply/create-reply.ts')).createReplies(context)),
  conversations: createConversationStore({ host: context.host }),
  submissions: createSubmissionStore({ host: context.host }),
  bots: createBotStore({ host: context.host, known: () => knownNames(context), firstModel: () => firstModel(context) }),
}));
