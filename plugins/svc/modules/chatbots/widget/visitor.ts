import type { HostApi, RestRequest, User } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import type { Bot, BotStore } from '../bots/bot.ts';
import type { Owner } from '../conversations/conversation.ts';
import { mayEmbed, originKey, readOrigin, type RequestOrigin } from '../../../kit/visitors/origin.ts';
import { sessionCookie, widgetNamespace } from './protocol.ts';
import { tokenLife, type Session, type SessionTokens, type TokenBinding } from '../../../kit/visitors/session-token.ts';

/** A caller whose bot and origin were checked. */
export interface Caller {
  readonly bot: Bot;
  readonly origin: RequestOrigin;
  /** Id 0 for a guest. Users are recognized only on the site's own pages. */
  readonly user: Pick<User, 'id' | 'displayName' | 'email' | 'roles' | 'can'>;
  /** Null when there is none or it has expired. */
  readonly session: Session | null;
  readonly ip: string;
  readonly userAgent: string;
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
  ensureSession(
    caller: Caller,
  ): Promise<{ readonly visitor: Visitor; readonly token: string; readonly headers: Readonly<Record<string, string>> }>;
  /** Whether pages of an origin may use a bot. */
  allowsOrigin(origin: RequestOrigin, botId: number): Promise<boolean>;
}

const guest: Caller['user'] = { id: 0, displayName: '', email: '', roles: [], can: () => false };

export function createVisitors({ host, bots, tokens }: VisitorParts): Visitors {
  async function findActiveBot(id: number): Promise<Bot> {
    const bot = await bots.get(id);
    if (bot?.status !== 'active') throw errors.bot_not_found({ values: { id } });
    return bot;
  }

  const tokenBinding = (caller: Omit<Caller, 'session'>, carrier: TokenBinding['carrier']): TokenBinding => ({
    audience: caller.bot.id,
    userId: caller.user.id,
    carrier,
    origin: originKey(caller.origin),
    userAgent: caller.userAgent,
  });

  async function readSession(request: RestRequest, caller: Omit<Caller, 'session'>): Promise<Session | null> {
    // The cookie counts only on the site's own pages, because a page of a related domain could send it too.
    const cookie = caller.origin.isOwn ? readCookie(request.headers['cookie']) : null;
    const session = cookie === null ? null : await tokens.read(cookie, tokenBinding(caller, 'cookie'));
    const token = request.params['token'];
    return (
      session ?? (typeof token === 'string' && token !== '' ? tokens.read(token, tokenBinding(caller, 'body')) : null)
    );
  }

  async function identify(request: RestRequest): Promise<Caller> {
    const bot = await findActiveBot(Number(request.params['bot_id']));
    const origin = readOrigin(request.headers, host.site.url);
    if (!mayEmbed(bot.embed, origin)) throw errors.origin_not_allowed();
    const user = origin.isOwn ? await request.pageUser() : guest;
    const caller = {
      bot,
      origin,
      user: user.id > 0 ? user : guest,
      ip: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
    };
    return { ...caller, session: await readSession(request, caller) };
  }

  const toVisitor = (caller: Caller, session: Session): Visitor => ({
    ...caller,
    session,
    owner: caller.user.id > 0 ? { userId: caller.user.id, sessionId: null } : { userId: 0, sessionId: session.id },
  });

  const cookieHeader = (botId: number, token: string): string => {
    const path = new URL(host.rest.url(`/${widgetNamespace}/bots/${String(botId)}`)).pathname;
    const secure = host.site.url.startsWith('https:') ? '; Secure' : '';
    return `${sessionCookie}=${token}; Path=${path}; Max-Age=${String(tokenLife / 1000)}; HttpOnly; SameSite=Lax${secure}`;
  };

  return {
    identify,
    async requireSession(request) {
      const caller = await identify(request);
      if (caller.session === null) throw errors.session_invalid();
      return toVisitor(caller, caller.session);
    },
    async ensureSession(caller) {
      const session = caller.session ?? tokens.begin();
      const visitor = toVisitor(caller, session);
      const isOwn = caller.origin.isOwn;
      if (isOwn && caller.session !== null && !tokens.isAging(session)) return { visitor, token: '', headers: {} };
      const token = await tokens.issue(session, tokenBinding(caller, isOwn ? 'cookie' : 'body'));
      return isOwn
        ? { visitor, token: '', headers: { 'Set-Cookie': cookieHeader(caller.bot.id, token) } }
        : { visitor, token, headers: {} };
    },
    async allowsOrigin(origin, botId) {
      const bot = await bots.get(botId);
      // For an unknown bot there is nothing to protect, and the page can show the error.
      return bot?.status !== 'active' || mayEmbed(bot.embed, origin);
    },
  };
}

function readCookie(header: string | undefined): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === sessionCookie) return value.trim();
  }
  return null;
}
