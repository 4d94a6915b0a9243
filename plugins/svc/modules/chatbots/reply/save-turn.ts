import { createHash, randomUUID } from 'node:crypto';
import type { DatabaseApi } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { Conversation, ConversationStore, NewMessage } from '../conversations/conversation.ts';
import type { Reply } from './reply.ts';

/** `module` of conversations that REST calls store (D13). */
export const restModule = 'rest_api';

export interface RestTurn {
  readonly uuid: string;
  readonly botId: number;
  /** 0 for a call with the REST key alone. */
  readonly userId: number;
  /** Id of the key of the call, 0 for the REST key. */
  readonly keyId: number;
  /** The user's message. */
  readonly text: string;
  readonly reply: Reply;
  /** `Idempotency-Key` of the call: calls with the same key are the same chat turn. */
  readonly key: string | undefined;
}

export interface SaveTurnParts {
  readonly database: Pick<DatabaseApi, 'transaction'>;
  readonly conversations: ConversationStore;
}

/** @throws RestError 409 if the conversation belongs to another bot, key or user, or to a visitor */
export function checkConversation(
  found: Conversation | null,
  { uuid, botId, keyId, userId }: Pick<RestTurn, 'uuid' | 'botId' | 'keyId' | 'userId'>,
): void {
  if (found === null) return;
  const isOwn = found.module === restModule && found.botId === botId && found.userId === userId;
  if (!isOwn || (found.keyId !== null && found.keyId !== keyId)) throw errors.conversation_taken({ values: { uuid } });
}

/**
 * Stores the chat turn of a REST call (D13): message and answer in one transaction. The first turn creates the
 * conversation; concurrent calls with one UUID share it.
 */
export async function saveTurn({ database, conversations }: SaveTurnParts, turn: RestTurn): Promise<void> {
  const { uuid, botId, userId, keyId } = turn;
  const messages = toMessages(turn);
  const save = (): Promise<void> =>
    database.transaction(async () => {
      const found = await conversations.find(uuid);
      checkConversation(found, turn);
      const { id } =
        found ??
        (await conversations.start({
          uuid,
          botId,
          userId,
          sessionId: null,
          module: restModule,
          keyId,
          pageUrl: '',
          ip: '',
          consentedAt: null,
        }));
      if (!(await conversations.bindKey(id, keyId))) throw errors.conversation_taken({ values: { uuid } });
      await conversations.append(id, messages);
    });
  try {
    await save();
  } catch (error) {
    // Another call may have created the conversation in the meantime.
    if ((await conversations.find(uuid)) === null) throw error;
    await save();
  }
}

function toMessages({ uuid, key, text, reply }: RestTurn): NewMessage[] {
  const { content, provider, model, usage, cost, sources } = reply;
  const id = (role: string): string => (key === undefined ? randomUUID() : deriveUuid([uuid, key, role]));
  return [
    { id: id('user'), role: 'user', content: text },
    { id: id('assistant'), role: 'assistant', content, provider, model, usage, cost, sources },
  ];
}

/** The same UUID for the same names (version 8 of RFC 9562, custom format). */
function deriveUuid(names: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(names)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
