import type { HostApi, RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { createEmbedVisitors } from '../../../kit/visitors/embed-visitors.ts';
import type { RequestOrigin } from '../../../kit/visitors/origin.ts';
import { createPageNonces } from '../../../kit/visitors/page-nonces.ts';
import type { EnsuredSession, PageClient } from '../../../kit/visitors/page-sessions.ts';
import type { Session, SessionTokens } from '../../../kit/visitors/session-token.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';
import type { AiForm, FormStore } from '../forms/form.ts';
import { inSiteLanguage } from './built-in-texts.ts';
import { formNamespace, sessionCookie } from './protocol.ts';

export interface Caller extends PageClient {
  readonly form: AiForm;
  /** Null: none, or an expired one. */
  readonly session: Session | null;
}

export interface Visitor extends Caller {
  readonly session: Session;
}

export interface Welcome extends Pick<EnsuredSession, 'token' | 'headers'> {
  readonly visitor: Visitor;
}

export interface Visitors {
  /** @throws RestError 404 `rest_svc_ai_form_not_available`, 403 `rest_svc_form_origin_not_allowed` (D16). */
  enter(request: RestRequest, token: string): Promise<Caller>;
  /** Starts a session if there is none, and returns the token or cookie for the page. */
  welcome(caller: Caller): Promise<Welcome>;
  /** Whether pages of an origin may use a form. */
  allows(origin: RequestOrigin, formId: number): Promise<boolean>;
  /** For forms that this site renders, without script. Valid for 12 to 24 hours and for all visitors. */
  nonce(formId: number): Promise<string>;
  isNonce(nonce: string, formId: number): Promise<boolean>;
}

export function createVisitors({
  host,
  forms,
  tokens,
  signer,
}: {
  readonly host: Pick<HostApi, 'site' | 'rest' | 'clock' | 'i18n'>;
  readonly forms: Pick<FormStore, 'get'>;
  readonly tokens: SessionTokens;
  readonly signer: Signer;
}): Visitors {
  const visitors = createEmbedVisitors({
    host,
    items: forms,
    tokens,
    cookie: sessionCookie,
    audience: (id) => `form:${String(id)}`,
    path: (id) => `/${formNamespace}/forms/${String(id)}`,
    notFound: () => errors.ai_form_not_available(),
    notAllowed: () => errors.form_origin_not_allowed(),
  });
  const nonces = createPageNonces({ signer, clock: host.clock, purpose: 'form-nonce', tick: 12 * 3600_000, ticks: 2 });

  return {
    async enter(request, token) {
      // From the path, not from the body or query.
      const { item, ...caller } = await visitors.identify(request, Number(request.url['form_id']), token);
      return { ...caller, form: inSiteLanguage(item, host) };
    },
    async welcome(caller) {
      const { session, ...sent } = await visitors.ensure({ ...caller, item: caller.form });
      return { visitor: { ...caller, session }, ...sent };
    },
    allows: visitors.allows,
    nonce: (formId) => nonces.issue(formId),
    isNonce: (nonce, formId) => nonces.isValid(nonce, formId),
  };
}
