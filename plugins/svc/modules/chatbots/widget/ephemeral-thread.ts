import type { Clock } from '#plugin-api';
import type { ChatMessage } from '../reply/reply.ts';
import type { IdempotencyKeys } from './idempotency-keys.ts';
import { widgetMessage } from './response-mappers.ts';
import type { Thread } from './thread.ts';

export interface EphemeralThreadParts {
  readonly uuid: string;
  readonly isNew: boolean;
  /** The conversation so far, as the page sent it. */
  readonly history: readonly ChatMessage[];
  readonly text: string;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly clock: Pick<Clock, 'now'>;
}

/** A conversation that only the visitor's page holds. The server stores nothing but idempotency keys. */
export function createEphemeralThread({
  uuid,
  isNew,
  history,
  text,
  idempotencyKeys,
  clock,
}: EphemeralThreadParts): Thread {
  let variables: Readonly<Record<string, string>> = {};
  const count = history.length + 1;
  return {
    uuid,
    isNew,
    messageCount: history.length,
    get variables() {
      return variables;
    },
    hasConsent: !isNew,
    messageState: () => Promise.resolve({ kind: 'new' }),
    async addMessage({ id }) {
      const isFirst = await idempotencyKeys.claim('conversation', [uuid]);
      return { count, isNew: await idempotencyKeys.claim('message', [uuid, id]), isFirst };
    },
    addAnswer: ({ id, content, sources = [], isPartial = false }) =>
      Promise.resolve({
        count: count + 1,
        message: widgetMessage({
          id,
          role: 'assistant',
          content,
          sources,
          isPartial,
          createdAt: clock.now(),
          feedback: 'none',
        }),
      }),
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
