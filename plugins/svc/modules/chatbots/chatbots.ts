import type { ServiceContext } from '../../context.ts';
import type { BotStore } from './bots/bot.ts';
import type { ConversationStore } from './conversations/conversation.ts';
import type { CreateReply } from './reply/reply.ts';

/** What the routes, pages and commands of chatbots share. One per context. */
export interface Chatbots {
  readonly bots: BotStore;
  readonly conversations: ConversationStore;
  readonly reply: CreateReply;
}

/** The parts, made when they are first asked for and then kept with the context. */
export function partsOf(create: (context: ServiceContext) => Chatbots): (context: ServiceContext) => Chatbots {
  const made = new WeakMap<ServiceContext, Chatbots>();
  return (context) => {
    const parts = made.get(context) ?? create(context);
    made.set(context, parts);
    return parts;
  };
}
