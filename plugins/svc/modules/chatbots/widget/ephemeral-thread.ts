import type { Clock } from '#plugin-api';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { ChatMessage } from '../reply/reply.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import type { HistoryMessage } from './protocol.ts';
import { widgetMessage } from './response-mappers.ts';
import type { Thread } from './thread.ts';

export interface EphemeralThreadParts {
  readonly uuid: string;
  readonly isNew: boolean;
  /** The conversation so far, of which the answers are verified (`verifyHistory`). */
  readonly history: readonly ChatMessage[];
  readonly text: string;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly clock: Pick<Clock, 'now'>;
  readonly signer: Signer;
}

const signaturePurpose = 'answer';

/**
 * Leaves out answers that the server did not give in this conversation, because the model takes them for its own words.
 * What the visitor wrote needs no proof: a visitor may write anything.
 */
export async function verifyHistory(
  signer: Signer,
  uuid: string,
  history: readonly HistoryMessage[],
): Promise<ChatMessage[]> {
  const verified = await Promise.all(
    history.map(
      async ({ role, content, signature = '' }) =>
        role === 'user' ||
        (await signer.isSigned(Buffer.from(signature, 'base64url'), signaturePurpose, [uuid, content])),
    ),
  );
  return history.filter((_, index) => verified[index]).map(({ role, content }) => ({ role, content }));
}

/** A conversation that only the visitor's page holds. The server stores nothing but idempotency keys. */
export function createEphemeralThread({
  uuid,
  isNew,
  history,
  text,
  idempotencyKeys,
  clock,
  signer,
}: EphemeralThreadParts): Thread {
  let variables: Readonly<Record<string, string>> = {};
  const count = history.length + 1;
  return {
    uuid,
    isNew,
    messageCount: history.length,
    variables: () => variables,
    hasConsent: !isNew,
    messageState: () => Promise.resolve({ kind: 'new' }),
    async addMessage({ id }) {
      const isFirst = await idempotencyKeys.claim('conversation', [uuid]);
      return { count, isNew: await idempotencyKeys.claim('message', [uuid, id]), isFirst };
    },
    async addAnswer({ id, content, sources = [], isPartial = false }) {
      const createdAt = clock.now();
      const message = widgetMessage({
        id,
        role: 'assistant',
        content,
        sources,
        isPartial,
        createdAt,
        feedback: 'none',
      });
      const signature = (await signer.sign(signaturePurpose, [uuid, content])).toString('base64url');
      return { count: count + 1, message: { ...message, signature } };
    },
    saveRuleChanges(changes) {
      variables = changes.variables;
      return Promise.resolve();
    },
    history: (messageId, limit) =>
      Promise.resolve(
        [...history, ...(messageId === null ? [] : [{ role: 'user' as const, content: text }])].slice(-limit),
      ),
  };
}
