import type { ChatbotParts } from '../chatbots.ts';
import { createActs, type Acts } from './idempotency-keys.ts';
import { createBurst, type Burst } from './flood-limit.ts';
import { createWidgetEvents, type EventParts, type WidgetEvents } from './events.ts';
import { createLimits, type Limits } from './limits.ts';
import { createRules, type Rules } from './rule-outcomes.ts';
import { createSealedIds, type SealedIds } from './signed-id.ts';
import { createSessionTokens } from '../../../kit/visitors/session-token.ts';
import { createSigner } from '../../../kit/visitors/signer.ts';
import { createThreads, type Threads } from './thread-access.ts';
import { createTurnLeases, type TurnLeases } from './turn-leases.ts';
import { createTurns, type Turns } from './chat-turns.ts';
import { createVisitors, type Visitors } from './visitor.ts';

/** What the routes of the widget work with. One per process, made at the first call. */
export interface Widget extends Pick<ChatbotParts, 'host' | 'conversations' | 'submissions'> {
  readonly visitors: Visitors;
  readonly burst: Burst;
  readonly limits: Limits;
  readonly leases: TurnLeases;
  readonly acts: Acts;
  readonly ids: SealedIds;
  readonly rules: Rules;
  readonly events: WidgetEvents;
  readonly threads: Threads;
  readonly turns: Turns;
}

export type WidgetPorts = Pick<
  ChatbotParts,
  'host' | 'providers' | 'settings' | 'bots' | 'conversations' | 'submissions' | 'reply'
>;

export function createWidget(ports: WidgetPorts): Widget {
  const { host, bots, conversations, submissions, reply } = ports;
  const signer = createSigner({ host });
  const ids = createSealedIds(signer);
  const acts = createActs({ host, signer });
  const limits = createLimits({ host, signer });
  const leases = createTurnLeases({ host, limits });
  const rules = createRules({ host });
  const events = createWidgetEvents({ host, aiOf: aiOf(ports) });
  const threads = createThreads({ host, conversations, ids, acts });
  const turns = createTurns({ host, reply, threads, events, limits, leases, rules, ids });
  host.onStop(() => turns.close());
  return {
    host,
    conversations,
    submissions,
    limits,
    leases,
    acts,
    ids,
    rules,
    events,
    threads,
    turns,
    visitors: createVisitors({ host, bots, tokens: createSessionTokens({ signer, clock: host.clock }) }),
    burst: createBurst({ clock: host.clock, hooks: host.hooks }),
  };
}

/** Display name of the bot's provider, and its model, or the one that is saved for the provider. */
function aiOf({ providers, settings }: Pick<WidgetPorts, 'providers' | 'settings'>): EventParts['aiOf'] {
  return async (bot) => {
    const provider = providers.get(bot.provider);
    const saved =
      bot.model === '' && provider
        ? (await settings.provider(bot.provider).catch(() => ({ model: '' }))).model
        : bot.model;
    return { provider: provider?.label ?? bot.provider, model: saved ?? '' };
  };
}
