import { plainAddress, type HostApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { anonymizeAddress } from '../conversations/anonymize-address.ts';
import type { Conversation, ConversationStore } from '../conversations/conversation.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import { createPersistedThread } from './persisted-thread.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { HistoryMessage } from './protocol.ts';
import { isUuid, type SignedIds } from './signed-id.ts';
import type { Thread } from './thread.ts';
import { createEphemeralThread, verifyHistory } from './ephemeral-thread.ts';
import type { Visitor } from './visitor.ts';

export interface ThreadInput {
  /** Null for the first message of a new conversation. */
  readonly conversation: string | null;
  readonly messageId: string;
  readonly text: string;
  readonly pageUrl: string;
  readonly consent: boolean;
  readonly history: readonly HistoryMessage[];
}

export interface ThreadAccess {
  /** @throws RestError 404 `rest_svc_conversation_not_found` for an unknown conversation and for another visitor's alike. */
  open(visitor: Visitor, input: ThreadInput): Promise<Thread>;
  /** The visitor's own conversation; null when it is valid but not stored. Throws the same. */
  findOwn(visitor: Visitor, uuid: string): Promise<Conversation | null>;
}

export interface ThreadAccessParts {
  readonly host: Pick<HostApi, 'clock'>;
  readonly conversations: ConversationStore;
  readonly ids: SignedIds;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly signer: Signer;
}

/** `module` of conversations in the widget. */
export const widgetModule = 'chatbot';

export function createThreadAccess({
  host,
  conversations,
  ids,
  idempotencyKeys,
  signer,
}: ThreadAccessParts): ThreadAccess {
  const idScope = ({ bot, owner }: Visitor): (string | number)[] => [
    'conversation',
    bot.id,
    owner.userId > 0 ? `u${String(owner.userId)}` : `s${String(owner.sessionId)}`,
  ];

  async function findOwn(visitor: Visitor, uuid: string): Promise<Conversation | null> {
    const conversation = isUuid(uuid) ? await conversations.find(uuid) : null;
    if (conversation !== null && isOwn(visitor, conversation)) return conversation;
    // A conversation that is not stored is recognized by its signed id.
    if (conversation === null && !visitor.bot.privacy.keep && (await ids.verify(uuid, idScope(visitor)))) return null;
    throw errors.conversation_not_found();
  }

  return {
    findOwn,
    async open(visitor, input) {
      const { bot, owner } = visitor;
      const given = input.conversation;
      const uuid = given ?? (await ids.create(idScope(visitor), [input.messageId]));
      if (!bot.privacy.keep) {
        if (given !== null) await findOwn(visitor, given);
        return createEphemeralThread({
          uuid,
          isNew: given === null,
          history: given === null ? [] : await verifyHistory(signer, uuid, input.history),
          text: input.text,
          idempotencyKeys,
          clock: host.clock,
          signer,
        });
      }
      // A first message that is sent again, because its response was lost, finds the conversation it created.
      const conversation = given === null ? await conversations.find(uuid) : await findOwn(visitor, given);
      if (conversation !== null && !isOwn(visitor, conversation)) throw errors.conversation_not_found();
      const ip = bot.privacy.anonymise_ip ? anonymizeAddress(visitor.ip) : plainAddress(visitor.ip);
      const initial = {
        uuid,
        botId: bot.id,
        module: widgetModule,
        ...owner,
        pageUrl: input.pageUrl,
        ip,
        consentedAt: input.consent ? host.clock.now() : null,
      };
      return createPersistedThread({ conversations, conversation, initial });
    },
  };
}

function isOwn({ bot, owner }: Visitor, conversation: Conversation): boolean {
  if (conversation.botId !== bot.id || conversation.module !== widgetModule) return false;
  if (owner.userId > 0 || conversation.userId > 0) return owner.userId === conversation.userId;
  return owner.sessionId !== null && owner.sessionId === conversation.sessionId;
}
