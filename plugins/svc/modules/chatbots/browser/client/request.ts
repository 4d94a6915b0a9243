import { routeAddress } from '../../../../kit/browser/address.ts';
import type { WidgetBot } from '../../widget/protocol.ts';
import { connectionLost, readFailure } from './failure.ts';

/** Calls a route below the root. @throws Failure without a response, or for an error response */
export async function request(root: string, route: string, init: RequestInit = {}): Promise<Response> {
  // Cookies are sent only to the page's own site; other sites have the token.
  const credentials = new URL(root, location.href).origin === location.origin ? 'same-origin' : 'omit';
  const response = await fetch(routeAddress(root, route), { credentials, cache: 'no-store', ...init }).catch(() => {
    throw connectionLost();
  });
  if (!response.ok) throw await readFailure(response);
  return response;
}

export async function readJson<Body>(pending: Promise<Response>): Promise<Body> {
  const response = await pending;
  return (await response.json().catch(() => {
    throw connectionLost();
  })) as Body;
}

/** The part of the bot that visitors may see. Does not start a session. */
export async function describeBot(root: string, botId: string): Promise<WidgetBot> {
  return (await readJson<{ config: WidgetBot }>(request(root, `/svc/v1/chatbots/${botId}/embed-config`))).config;
}
