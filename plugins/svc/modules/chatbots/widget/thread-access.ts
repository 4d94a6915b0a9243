import type { HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { anonymizeAddress } from '../conversations/anonymize-address.ts';
import type { Conversation, ConversationStore } from '../conversations/conversation.ts';
import type { ChatMessage } from '../reply/reply.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import { plainAddress } from '../../../kit/visitors/address.ts';
import { createPersistedThread } from './persisted-thread.ts';
import { isUuid, type SignedIds } from './signed-id.ts';
import type { Thread } from './thread.ts';
import { createEphemeralThread } from './ephemeral-thread.ts';
import type { Visitor } from './visitor.ts';

export interface ThreadInput {
  /** Null: the first message of a new one. */
  readonly conversation: string | null;
  readonly messageId: string;
  readonly text: string;
  readonly pageUrl: string;
  readonly consent: boolean;
  readonly history: readonly ChatMessage[];
}

export interface ThreadAccess {
  /** @throws RestError 404 `rest_svc_conversation_not_found` for one that is not there, and one of somebody else alike. */
  open(visitor: Visitor, input: ThreadInput): Promise<Thread>;
  /** The visitor's own conversation, or null. @throws the same; null where nothing of it is stored. */
  own(visitor: Visitor, uuid: string): Promise<Conversation | null>;
}

export interface ThreadAccessParts {
  readonly host: Pick<HostApi, 'clock'>;
  readonly conversations: ConversationStore;
  readonly ids: SignedIds;
  readonly acts: IdempotencyKeys;
}

/** `module` of conversations by the widget. */
export const widgetModule = 'chatbot';

export function createThreadAccess({ host, conversations, ids, acts }: ThreadAccessParts): ThreadAccess {
  const scopeOf = ({ bot, owner }: Visitor): (string | number)[] => [
    'conversation',
    bot.id,
    owner.userId > 0 ? `u${String(owner.userId)}` : `s${String(owner.sessionId)}`,
  ];

  async function own(visitor: Visitor, uuid: string): Promise<Conversation | null> {
    const conversation = isUuid(uuid) ? await conversations.find(uuid) : null;
    if (conversation !== null && isOwn(visitor, conversation)) return conversation;
    // What nothing is stored of is known by its id alone.
    if (conversation === null && !visitor.bot.privacy.keep && (await ids.isOf(uuid, scopeOf(visitor)))) return null;
    throw errors.conversation_not_found();
  }

  return {
    own,
    async open(visitor, input) {
      const { bot, owner } = visitor;
      const given = input.conversation;
      const uuid = given ?? (await ids.make(scopeOf(visitor), [input.messageId]));
      if (!bot.privacy.keep) {
        if (given !== null) await own(visitor, given);
        return createEphemeralThread({
          uuid,
          isNew: given === null,
          history: input.history,
          text: input.text,
          acts,
          clock: host.clock,
        });
      }
      // Its first message sent again, where the page never heard of the conversation, finds what it began.
      const conversation = given === null ? await conversations.find(uuid) : await own(visitor, given);
      if (conversation !== null && !isOwn(visitor, conversation)) throw errors.conversation_not_found();
      const ip = bot.privacy.anonymise_ip ? anonymizeAddress(visitor.ip) : plainAddress(visitor.ip);
      const beginning = {
        uuid,
        botId: bot.id,
        module: widgetModule,
        ...owner,
        pageUrl: input.pageUrl,
        ip,
        consentedAt: input.consent ? host.clock.now() : null,
      };
      return createPersistedThread({ conversations, conversation, beginning });
    },
  };
}

function isOwn({ bot, owner }: Visitor, conversation: Conversation): boolean {
  if (conversation.botId !== bot.id || conversation.module !== widgetModule) return false;
  if (owner.userId > 0 || conversation.userId > 0) return owner.userId === conversation.userId;
  return owner.sessionId !== null && owner.sessionId === conversation.sessionId;
}
