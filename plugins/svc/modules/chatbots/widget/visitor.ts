import type { HostApi, RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { createEmbedVisitors } from '../../../kit/visitors/embed-visitors.ts';
import type { RequestOrigin } from '../../../kit/visitors/origin.ts';
import type { EnsuredSession, PageClient } from '../../../kit/visitors/page-sessions.ts';
import type { Session, SessionTokens } from '../../../kit/visitors/session-token.ts';
import type { Bot, BotStore } from '../bots/bot.ts';
import type { Owner } from '../conversations/conversation.ts';
import { inSiteLanguage } from './built-in-texts.ts';
import { sessionCookie, widgetNamespace } from './protocol.ts';

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
  readonly host: Pick<HostApi, 'site' | 'rest' | 'i18n'>;
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
  const visitors = createEmbedVisitors({
    host,
    items: bots,
    tokens,
    cookie: sessionCookie,
    audience: (id) => id,
    path: (id) => `/${widgetNamespace}/bots/${String(id)}`,
    notFound: (id) => errors.bot_not_found({ values: { id } }),
    notAllowed: () => errors.origin_not_allowed(),
  });

  async function identify(request: RestRequest): Promise<Caller> {
    // Before the body there are no parameters yet.
    const { bot_id: id = request.url['bot_id'], token } = request.params;
    const { item, ...caller } = await visitors.identify(request, Number(id), typeof token === 'string' ? token : '');
    return { ...caller, bot: inSiteLanguage(item, host) };
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
      const { session, ...sent } = await visitors.ensure({ ...caller, item: caller.bot });
      return { visitor: toVisitor(caller, session), ...sent };
    },
    allowsOrigin: visitors.allows,
  };
}
