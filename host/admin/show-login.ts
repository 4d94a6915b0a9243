import type { Response } from 'express';

import type { AdminContext } from './dependencies.ts';
import { withStatus } from './with-status.ts';

/** Script from the assets of the admin for pages with passkeys. */
export const passkeyScript = 'passkeys.js';

export interface LoginForm {
  /** Path to open after sign-in. */
  readonly wanted: string;
  readonly login?: string;
  readonly status?: number;
  readonly notice?: { readonly kind: 'success' | 'error'; readonly text: string };
}

/** The sign-in page, with a button for passkeys if the site's address allows them. */
export async function showLogin(
  context: AdminContext,
  response: Response,
  { wanted, login, status, notice }: LoginForm,
): Promise<void> {
  const offersPasskeys = context.secondStep.offersPasskeys();
  const html = await context.shell.narrow({
    title: 'Sign in',
    template: 'admin/login',
    data: { wanted, login: login ?? '', needsSetup: await context.setup.needed(), offersPasskeys },
    notice: notice ?? null,
    ...(offersPasskeys && { script: passkeyScript }),
  });
  withStatus(response, status ?? 200)
    .type('html')
    .send(html);
}
