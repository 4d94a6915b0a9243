import { inLanguage, isUrl, translateText } from '#plugin-api';
import type { Request, Response } from 'express';

import type { AdminDependencies, SignedIn } from './dependencies.ts';
import { adminPath, localAdminPath } from './local-path.ts';
import { wantsJson } from './request.ts';
import type { Shell } from './shell.ts';
import { withStatus } from './with-status.ts';

export interface Refusal {
  readonly request: Request;
  readonly response: Response;
  readonly status: number;
  readonly text: string;
  /** Default by status: `rest_forbidden`, `rest_no_route`, ... */
  readonly code?: string;
  /** With a session, the error page includes the menu. */
  readonly session?: SignedIn;
}

/** Responses to requests that no page handles. */
export interface ErrorResponses {
  refuse(refusal: Refusal): Promise<void>;
  /** Redirects a browser to sign-in, which returns to the requested page. A script gets 401. */
  requireSignIn(request: Request, response: Response): Promise<void>;
}

const titles: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  413: 'Too large',
  415: 'Unsupported format',
  429: 'Too many attempts',
};
const codes: Readonly<Record<number, string>> = {
  401: 'rest_not_logged_in',
  403: 'rest_forbidden',
  404: 'rest_no_route',
  413: 'rest_body_too_large',
  500: 'rest_internal_error',
};

export function createErrorResponses(shell: Shell, { language }: Pick<AdminDependencies, 'language'>): ErrorResponses {
  const respond = async ({ request, response, status, text, code, session }: Refusal): Promise<void> => {
    if (response.headersSent) return;
    withStatus(response, status);
    if (wantsJson(request)) {
      response.json({
        notice: { kind: 'error', text: translateText(text) },
        reveal: null,
        data: null,
        redirect: null,
        code: code ?? codes[status] ?? 'rest_error',
      });
      return;
    }
    const title = titles[status] ?? 'Something went wrong';
    const data = { status, title, text };
    const html = session
      ? await shell.full({ request, page: { slug: '!', title }, template: 'admin/refusal', data, session })
      : await shell.narrow({ title, template: 'admin/refusal', data });
    response.type('html').send(html);
  };
  /** In the language of the user, who may have been refused before a page was chosen. */
  const refuse = (refusal: Refusal): Promise<void> =>
    inLanguage(language?.(refusal.session?.user.profile?.locale), () => respond(refusal));
  return {
    refuse,
    async requireSignIn(request, response) {
      if (wantsJson(request)) {
        await refuse({ request, response, status: 401, text: 'Your session has ended. Sign in again.' });
        return;
      }
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const wanted = isRead ? request.originalUrl : formPath(request);
      response.redirect(302, `${adminPath('login')}?to=${encodeURIComponent(wanted)}`);
    },
  };
}

/** The page whose form was sent, with the query that names what it edits. It is of this site: only the path is used. */
function formPath(request: Request): string {
  const referer = request.headers.referer ?? '';
  const { pathname, search } = new URL(isUrl(referer) ? referer : 'http://local.invalid');
  return localAdminPath(pathname + search) ?? request.originalUrl.split('?')[0] ?? adminPath();
}
