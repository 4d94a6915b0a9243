import type { HostApi, RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { Bot, BotStore } from '../bots/bot.ts';
import type { Owner } from '../conversations/conversation.ts';
import { mayEmbed, readOrigin, type RequestOrigin } from '../../../kit/visitors/origin.ts';
import {
  createPageSessions,
  identifyClient,
  type EnsuredSession,
  type PageClient,
  type SessionPage,
} from '../../../kit/visitors/page-sessions.ts';
import { sessionCookie, widgetNamespace } from './protocol.ts';
import type { Session, SessionTokens } from '../../../kit/visitors/session-token.ts';

/** A caller whose bot and origin were checked. */
export interface Caller extends PageClient {
  readonly bot: Bot;
  /** Null when there is none or it has expired. */
  readonly session: Session | null;
}

export interface Visitor extends Caller {
  readonly session: Session;
  /** Owner of the visitor's conversations. */
  readonly owner: Owner;
}

export interface VisitorParts {
  readonly host: Pick<HostApi, 'site' | 'rest'>;
  readonly bots: Pick<BotStore, 'get'>;
  readonly tokens: SessionTokens;
}

export interface Visitors {
  /** @throws RestError 404 `rest_svc_bot_not_found`, 403 `rest_svc_origin_not_allowed` (D16). */
  identify(request: RestRequest): Promise<Caller>;
  /** The same, and requires a session. @throws RestError 403 `rest_svc_session_invalid` as well. */
  requireSession(request: RestRequest): Promise<Visitor>;
  /** Starts a session unless the caller has one. Returns the token or cookie that the page needs. */
  ensureSession(caller: Caller): Promise<{ readonly visitor: Visitor } & Pick<EnsuredSession, 'token' | 'headers'>>;
  /** Whether pages of an origin may use a bot. */
  allowsOrigin(origin: RequestOrigin, botId: number): Promise<boolean>;
}

export function createVisitors({ host, bots, tokens }: VisitorParts): Visitors {
  const sessions = createPageSessions({ host, tokens, cookie: sessionCookie });
  const pageOf = ({ bot, user, origin, userAgent }: Omit<Caller, 'session'>): SessionPage => ({
    audience: bot.id,
    userId: user.id,
    origin,
    userAgent,
  });

  async function findActiveBot(id: number): Promise<Bot> {
    const bot = await bots.get(id);
    if (bot?.status !== 'active') throw errors.bot_not_found({ values: { id } });
    return bot;
  }

  async function identify(request: RestRequest): Promise<Caller> {
    const bot = await findActiveBot(Number(request.params['bot_id']));
    const origin = readOrigin(request.headers, host.site.url);
    if (!mayEmbed(bot.embed, origin)) throw errors.origin_not_allowed();
    const caller = { bot, ...(await identifyClient(request, origin)) };
    const { token } = request.params;
    return {
      ...caller,
      session: await sessions.read(request, pageOf(caller), typeof token === 'string' ? token : ''),
    };
  }

  const toVisitor = (caller: Caller, session: Session): Visitor => ({
    ...caller,
    session,
    owner: caller.user.id > 0 ? { userId: caller.user.id, sessionId: null } : { userId: 0, sessionId: session.id },
  });

  return {
    identify,
    async requireSession(request) {
      const caller = await identify(request);
      if (caller.session === null) throw errors.session_invalid();
      return toVisitor(caller, caller.session);
    },
    async ensureSession(caller) {
      const path = `/${widgetNamespace}/bots/${String(caller.bot.id)}`;
      const { session, ...sent } = await sessions.ensure(caller.session, pageOf(caller), path);
      return { visitor: toVisitor(caller, session), ...sent };
    },
    async allowsOrigin(origin, botId) {
      const bot = await bots.get(botId);
      // For an unknown bot there is nothing to protect, and the page can show the error.
      return bot?.status !== 'active' || mayEmbed(bot.embed, origin);
    },
  };
}
