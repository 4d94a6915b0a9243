import type { Clock } from '#plugin-api';
import type { ChatMessage } from '../reply/reply.ts';
import type { Acts } from './idempotency-keys.ts';
import { widgetMessage } from './response-mappers.ts';
import type { Thread } from './thread.ts';

export interface UnkeptThreadParts {
  readonly uuid: string;
  readonly isNew: boolean;
  /** The conversation so far, by the page. */
  readonly history: readonly ChatMessage[];
  readonly text: string;
  readonly acts: Acts;
  readonly clock: Pick<Clock, 'now'>;
}

/** A conversation that lives in the visitor's page: nothing of it is stored but that its messages counted. */
export function createUnkeptThread({ uuid, isNew, history, text, acts, clock }: UnkeptThreadParts): Thread {
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
    stateOf: () => Promise.resolve({ kind: 'new' }),
    async add({ id }) {
      const isFirst = await acts.once('conversation', [uuid]);
      return { count, isNew: await acts.once('message', [uuid, id]), isFirst };
    },
    answer: ({ id, content, sources = [], isPartial = false }) =>
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
    note(changes) {
      variables = changes.variables;
      return Promise.resolve();
    },
    told: (messageId, most) =>
      Promise.resolve(
        [...history, ...(messageId === null ? [] : [{ role: 'user' as const, content: text }])].slice(-most),
      ),
  };
}
