import { routeAddress } from '../../../../kit/browser/address.ts';
import type { createChatWindow } from './chat-window.ts';
import type { diagnose } from './diagnose.ts';

/** Hash of the script of the window, set when this script is built: so both are of one version, whatever browsers cached. */
declare const chatVersion: string;

/** What the script of the window contains. */
export interface WindowScript {
  readonly create: typeof createChatWindow;
  readonly diagnose: typeof diagnose;
}

let provided: WindowScript | null = null;
let loading: Promise<WindowScript> | null = null;
let tries = 0;

/** Called by the script of the window. */
export function provideWindow(script: WindowScript): void {
  provided = script;
}

/** Loads the script of the window, once per page. After a failure the next call tries again. */
export function loadWindow(root: string): Promise<WindowScript> {
  loading ??= importWindow(root).catch((error: unknown) => {
    loading = null;
    tries++;
    throw error;
  });
  return loading;
}

async function importWindow(root: string): Promise<WindowScript> {
  const address = routeAddress(root, '/svc-widget/v1/chat.js') + (root.includes('?') ? '&' : '?');
  // Browsers remember that a script could not be loaded, so each try has its own address.
  if (!provided) await import(`${address}v=${chatVersion}&t=${tries}`);
  if (!provided) throw new Error('chat.js did not run.');
  return provided;
}
