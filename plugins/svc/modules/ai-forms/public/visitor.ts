import type { HostApi, RestRequest, User } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { mayEmbed, originKey, readOrigin, type RequestOrigin } from '../../../kit/visitors/origin.ts';
import { tokenLife, type Session, type SessionTokens, type TokenBinding } from '../../../kit/visitors/session-token.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { AiForm, FormStore } from '../forms/form.ts';
import { formNamespace, sessionCookie } from './protocol.ts';

export interface Caller {
  readonly form: AiForm;
  readonly origin: RequestOrigin;
  /** Id 0: a guest. Users are identified only on pages of this site. */
  readonly user: User;
  /** Null: none, or an expired one. */
  readonly session: Session | null;
  readonly ip: string;
  readonly userAgent: string;
}

export interface Visitor extends Caller {
  readonly session: Session;
}

export interface Welcome {
  readonly visitor: Visitor;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Visitors {
  /** @throws RestError 404 `rest_svc_ai_form_not_found`, 403 `rest_svc_form_origin_not_allowed` (D16). */
  enter(request: RestRequest, token: string): Promise<Caller>;
  /** Starts a session if there is none, and returns the token or cookie for the page. */
  welcome(caller: Caller): Promise<Welcome>;
  /** Whether pages of an origin may use a form. */
  allows(origin: RequestOrigin, formId: number): Promise<boolean>;
  /** For forms that this site renders, without script. Valid for 12 to 24 hours and for all visitors. */
  nonce(formId: number): Promise<string>;
  isNonce(nonce: string, formId: number): Promise<boolean>;
}

const nonceLife = 12 * 3600_000;
const guest: User = { id: 0, login: '', email: '', displayName: '', roles: [], can: () => false };

export function createVisitors({
  host,
  forms,
  tokens,
  signer,
}: {
  readonly host: Pick<HostApi, 'site' | 'rest' | 'clock'>;
  readonly forms: Pick<FormStore, 'get'>;
  readonly tokens: SessionTokens;
  readonly signer: Signer;
}): Visitors {
  const bindingOf = (caller: Omit<Caller, 'session'>, carrier: TokenBinding['carrier']): TokenBinding => ({
    audience: `form:${String(caller.form.id)}`,
    userId: caller.user.id,
    carrier,
    origin: originKey(caller.origin),
    userAgent: caller.userAgent,
  });

  async function sessionOf(
    request: RestRequest,
    caller: Omit<Caller, 'session'>,
    token: string,
  ): Promise<Session | null> {
    // Pages of sibling domains may send the cookie, but only pages of this site may use it.
    const cookie = caller.origin.isOwn ? cookieOf(request.headers['cookie']) : null;
    const session = cookie === null ? null : await tokens.read(cookie, bindingOf(caller, 'cookie'));
    return session ?? (token === '' ? null : tokens.read(token, bindingOf(caller, 'body')));
  }

  const cookieHeader = (formId: number, token: string): string => {
    const path = new URL(host.rest.url(`/${formNamespace}/forms/${String(formId)}`)).pathname;
    const secure = host.site.url.startsWith('https:') ? '; Secure' : '';
    return `${sessionCookie}=${token}; Path=${path}; Max-Age=${String(tokenLife / 1000)}; HttpOnly; SameSite=Lax${secure}`;
  };

  const tick = (before = 0): number => Math.floor(host.clock.now() / nonceLife) - before;
  const nonceOf = async (formId: number, at: number): Promise<string> =>
    (await signer.sign('form-nonce', [formId, at])).subarray(0, 16).toString('base64url');

  return {
    async enter(request, token) {
      // From the path, not from the body or query.
      const id = Number(request.url['form_id']);
      const form = await forms.get(id);
      if (form?.status !== 'active') throw errors.ai_form_not_found({ values: { id } });
      const origin = readOrigin(request.headers, host.site.url);
      if (!mayEmbed(form.embed, origin)) throw errors.form_origin_not_allowed();
      const user = origin.isOwn ? await request.pageUser() : guest;
      const caller = {
        form,
        origin,
        user: user.id > 0 ? user : guest,
        ip: request.ip,
        userAgent: request.headers['user-agent'] ?? '',
      };
      return { ...caller, session: await sessionOf(request, caller, token) };
    },
    async welcome(caller) {
      const session = caller.session ?? tokens.begin();
      const visitor = { ...caller, session };
      const isOwn = caller.origin.isOwn;
      if (isOwn && caller.session !== null && !tokens.isAging(session)) return { visitor, token: '', headers: {} };
      const token = await tokens.issue(session, bindingOf(caller, isOwn ? 'cookie' : 'body'));
      return isOwn
        ? { visitor, token: '', headers: { 'Set-Cookie': cookieHeader(caller.form.id, token) } }
        : { visitor, token, headers: {} };
    },
    async allows(origin, formId) {
      const form = await forms.get(formId);
      // Missing forms hold no data, and the page can show the error.
      return form?.status !== 'active' || mayEmbed(form.embed, origin);
    },
    nonce: (formId) => nonceOf(formId, tick()),
    async isNonce(nonce, formId) {
      if (!/^[\w-]{22}$/.test(nonce)) return false;
      const mac = Buffer.from(nonce, 'base64url');
      return (
        (await signer.isSigned(mac, 'form-nonce', [formId, tick()])) ||
        signer.isSigned(mac, 'form-nonce', [formId, tick(1)])
      );
    },
  };
}

function cookieOf(header: string | undefined): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === sessionCookie) return value.trim();
  }
  return null;
}
