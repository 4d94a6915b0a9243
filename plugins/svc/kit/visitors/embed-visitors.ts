import type { HostApi, RestRequest } from '#plugin-api';
import type { EmbedSettings } from './embed-settings.ts';
import { mayEmbed, readOrigin, type RequestOrigin } from './origin.ts';
import { createPageSessions, identifyClient } from './page-sessions.ts';
import type { EnsuredSession, PageClient } from './page-sessions.ts';
import type { Session, SessionTokens } from './session-token.ts';

/** What pages embed: a chatbot, a form. */
export interface Embeddable {
  readonly id: number;
  readonly status: string;
  readonly embed: EmbedSettings;
}

export interface EmbedCaller<Item> extends PageClient {
  readonly item: Item;
  /** Null: none, or an expired one. */
  readonly session: Session | null;
}

/** Checks who calls from a page that embeds an item (D16). */
export interface EmbedVisitors<Item> {
  /** @throws RestError 404 for an inactive or missing item, 403 for a page that may not embed it. */
  identify(request: RestRequest, id: number, token: string): Promise<EmbedCaller<Item>>;
  /** Starts a session unless the caller has one. Returns the token or cookie that the page needs. */
  ensure(caller: EmbedCaller<Item>): Promise<EnsuredSession>;
  /** Whether pages of an origin may use an item. */
  allows(origin: RequestOrigin, id: number): Promise<boolean>;
}

export interface EmbedVisitorsInit<Item> {
  readonly host: Pick<HostApi, 'site' | 'rest'>;
  readonly items: { get(id: number): Promise<Item | null> };
  readonly tokens: SessionTokens;
  readonly cookie: string;
  readonly audience: (id: number) => string | number;
  /** REST path below which the cookie is sent. */
  readonly path: (id: number) => string;
  readonly notFound: (id: number) => Error;
  readonly notAllowed: () => Error;
}

export function createEmbedVisitors<Item extends Embeddable>(init: EmbedVisitorsInit<Item>): EmbedVisitors<Item> {
  const { host, items, tokens, cookie } = init;
  const sessions = createPageSessions({ host, tokens, cookie });
  const pageOf = ({ item, user, origin, userAgent }: Omit<EmbedCaller<Item>, 'session'>) => ({
    audience: init.audience(item.id),
    userId: user.id,
    origin,
    userAgent,
  });

  return {
    async identify(request, id, token) {
      const item = await items.get(id);
      if (item?.status !== 'active') throw init.notFound(id);
      const origin = readOrigin(request.headers, host.site.url);
      if (!mayEmbed(item.embed, origin)) throw init.notAllowed();
      const caller = { item, ...(await identifyClient(request, origin)) };
      return { ...caller, session: await sessions.read(request, pageOf(caller), token) };
    },
    ensure: (caller) => sessions.ensure(caller.session, pageOf(caller), init.path(caller.item.id)),
    async allows(origin, id) {
      const item = await items.get(id);
      // A missing item holds no data, and the page can show the error.
      return item?.status !== 'active' || mayEmbed(item.embed, origin);
    },
  };
}
