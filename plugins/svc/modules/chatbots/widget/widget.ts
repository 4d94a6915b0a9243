import type { ChatbotParts } from '../chatbots.ts';
import { createIdempotencyKeys, type IdempotencyKeys } from './idempotency-keys.ts';
import { createFloodLimit, type FloodLimit } from './flood-limit.ts';
import { createWidgetEvents, type EventParts, type WidgetEvents } from './events.ts';
import { createLimits, type Limits } from './limits.ts';
import { createRules, type Rules } from './rule-outcomes.ts';
import { createSignedIds, type SignedIds } from './signed-id.ts';
import { createSessionTokens } from '../../../kit/visitors/session-token.ts';
import { createSigner } from '../../../kit/visitors/signer.ts';
import { createThreadAccess, type ThreadAccess } from './thread-access.ts';
import { createTurnJobs } from './turn-jobs.ts';
import { createChatTurns, type ChatTurns } from './chat-turns.ts';
import { createVisitors, type Visitors } from './visitor.ts';

/** What the widget's routes share. One per process, created at the first call. */
export interface Widget extends Pick<ChatbotParts, 'host' | 'conversations' | 'submissions'> {
  readonly visitors: Visitors;
  readonly floodLimit: FloodLimit;
  readonly limits: Limits;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly ids: SignedIds;
  readonly rules: Rules;
  readonly events: WidgetEvents;
  readonly threads: ThreadAccess;
  readonly turns: ChatTurns;
}

export type WidgetPorts = Pick<
  ChatbotParts,
  'host' | 'providers' | 'settings' | 'bots' | 'conversations' | 'submissions' | 'reply'
>;

export function createWidget(ports: WidgetPorts): Widget {
  const { host, bots, conversations, submissions, reply } = ports;
  const signer = createSigner({ host });
  const ids = createSignedIds(signer);
  const idempotencyKeys = createIdempotencyKeys({ host, signer });
  const limits = createLimits({ host, signer });
  const rules = createRules({ host });
  const events = createWidgetEvents({ host, findAi: findAi(ports) });
  const threads = createThreadAccess({ host, conversations, ids, idempotencyKeys, signer });
  const turns = createChatTurns({
    host,
    reply,
    threads,
    events,
    limits,
    turnJobs: createTurnJobs({ host }),
    rules,
    ids,
  });
  host.onStop(() => turns.close());
  return {
    host,
    conversations,
    submissions,
    limits,
    idempotencyKeys,
    ids,
    rules,
    events,
    threads,
    turns,
    visitors: createVisitors({ host, bots, tokens: createSessionTokens({ signer, clock: host.clock }) }),
    floodLimit: createFloodLimit({ clock: host.clock, hooks: host.hooks }),
  };
}

/** See EventParts. */
function findAi({ providers, settings }: Pick<WidgetPorts, 'providers' | 'settings'>): EventParts['findAi'] {
  return async (bot) => {
    const provider = providers.get(bot.provider);
    const saved =
      bot.model === '' && provider
        ? (await settings.provider(bot.provider).catch(() => ({ model: '' }))).model
        : bot.model;
    return { provider: provider?.label ?? bot.provider, model: saved ?? '' };
  };
}
