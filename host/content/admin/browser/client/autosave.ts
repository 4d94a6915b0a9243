import { h } from './dom.ts';
import { dataOf } from './rest.ts';

/** Milliseconds. */
const delays = { afterChange: 3_000, longest: 15_000, retry: 5_000, longestRetry: 60_000, request: 15_000 } as const;

/** Browsers send at most 64 KiB in all after a page was left. */
const keepaliveLimit = 60_000;

interface Reply {
  readonly code?: string;
  readonly data?: Saved;
  readonly notice?: { readonly text?: string };
}

interface Saved {
  /** Time of day at the site. Null: there was nothing to save. */
  readonly time: string | null;
  /** Says who changed the post after the form was opened. Null: it is the newest version. */
  readonly newer: string | null;
  /** Only of a draft that was created now. */
  readonly id?: number;
  readonly version?: string;
  /** Page of the draft. */
  readonly url?: string;
  /** Where the draft can be looked at. */
  readonly viewUrl?: string | null;
}

type TextField = HTMLInputElement | HTMLTextAreaElement;

/**
 * Saves title, text and excerpt of the form as the user's autosave: some seconds after a change, and when the page is left or
 * hidden. Tries again after failures. A new post becomes a draft by it, to which the form belongs from then on.
 */
export function addAutosave(form: HTMLFormElement): void {
  const field = (name: string): TextField | null => form.querySelector<TextField>(`[name="${name}"]`);
  const read = (): Record<string, string> =>
    Object.fromEntries(['title', 'content', 'excerpt'].map((name) => [name, field(name)?.value ?? '']));
  const textOf = (): string => JSON.stringify(read());
  // A form that was refused is stored nowhere.
  let stored: string | null = dataOf('unsaved') === 'true' ? null : textOf();
  /** The text that is being sent. */
  let sent: string | null = null;
  let sending: Promise<void> | null = null;
  let isSubmitting = false;
  let failures = 0;
  let timer: number | undefined;
  let changedAt: number | null = null;

  function show(text: string): void {
    const status = form.querySelector('.autosave-status');
    // Screen readers announce each new text.
    if (status && status.textContent !== text) status.textContent = text;
  }
  function plan(delay: number): void {
    window.clearTimeout(timer);
    timer = window.setTimeout(saveNext, delay);
  }
  /** A request that is under way plans the next one. */
  function saveNext(): void {
    if (sending === null) void save();
  }
  async function save(): Promise<void> {
    const text = textOf();
    if (text === stored || text === sent || isSubmitting) return;
    window.clearTimeout(timer);
    sent = text;
    const request = send(text).finally(() => {
      if (sending === request) sending = sent = null;
      if (textOf() === stored || isSubmitting) return;
      const wait = Math.min(delays.longestRetry, delays.retry * 2 ** (failures - 1));
      plan(failures === 0 ? delays.afterChange : wait);
    });
    sending = request;
    await request;
  }
  async function send(text: string): Promise<void> {
    changedAt = null;
    try {
      const saved = await post();
      failures = 0;
      stored = text;
      adopt(saved);
      if (saved.time !== null) show([__('Saved {time}.', { time: saved.time }), saved.newer].filter(Boolean).join(' '));
    } catch (error) {
      failures += 1;
      show(error instanceof Error ? error.message : String(error));
    }
  }
  async function post(isRepeated = false): Promise<Saved> {
    const names = ['_nonce', 'id', 'version'];
    const own = Object.fromEntries(names.map((name) => [name, field(name)?.value ?? '']));
    const body = new URLSearchParams({ ...own, ...read() });
    const response = await fetch(dataOf('autosaveUrl'), {
      method: 'POST',
      body,
      headers: { Accept: 'application/json' },
      keepalive: body.toString().length < keepaliveLimit,
      signal: AbortSignal.timeout(delays.request),
    }).catch(() => {
      throw new Error(__('Not saved: the server does not respond. Trying again.'));
    });
    const { code, data, notice } = (await response.json().catch(() => ({}))) as Reply;
    if (response.ok && data) return data;
    if (response.status === 401) throw new Error(__('Not saved: you are signed out. Sign in again in another tab.'));
    if (code === 'rest_cookie_invalid_nonce' && !isRepeated && (await renewNonce())) return post(true);
    const { text: reason } = notice ?? {};
    throw new Error(
      reason === undefined
        ? __('Not saved: the server does not respond. Trying again.')
        : __('Not saved: {reason}', { reason }),
    );
  }
  /** After the user has signed in again in another tab. */
  async function renewNonce(): Promise<boolean> {
    const address = `${new URL(form.action).pathname}?id=${field('id')?.value ?? ''}`;
    const html = await fetch(address).then(
      (response) => response.text(),
      () => '',
    );
    const page = new DOMParser().parseFromString(html, 'text/html');
    const fresh = page.querySelector<HTMLInputElement>('#post-form [name="_nonce"]');
    const old = field('_nonce');
    if (!fresh || !old) return false;
    old.value = fresh.value;
    return true;
  }
  /** The page of a new post becomes that of its draft, as after a reload. */
  function adopt({ id, version = '', url, viewUrl }: Saved): void {
    const [ofId, ofVersion] = [field('id'), field('version')];
    if (id === undefined || url === undefined || !ofId || !ofVersion) return;
    ofId.value = String(id);
    ofVersion.value = version;
    history.replaceState(null, '', new URL(url, location.href).pathname + new URL(url, location.href).search);
    const heading = document.querySelector('h1');
    const title = field('title')?.value.trim() ?? '';
    if (heading && title !== '') heading.textContent = title;
    if (viewUrl) form.querySelector('.post-save .button')?.after(h('a', { href: viewUrl }, __('Preview')));
  }

  if (stored === null) plan(delays.afterChange);
  form.addEventListener('input', () => {
    if (textOf() === stored) return;
    changedAt ??= Date.now();
    // After a failure the next attempt is planned.
    if (failures === 0) plan(Math.max(0, Math.min(delays.afterChange, changedAt + delays.longest - Date.now())));
  });
  form.addEventListener('submit', (event) => {
    if (event.defaultPrevented) return;
    if (sending === null) {
      isSubmitting = true;
      window.clearTimeout(timer);
      // Another script may ask first, or find no server.
      window.setTimeout(() => {
        if (!event.defaultPrevented) return;
        isSubmitting = false;
        saveNext();
      });
      return;
    }
    // An autosave that arrives after the save would be newer than it, and one of a new post would create a second one.
    event.preventDefault();
    const { submitter } = event;
    void sending.then(() => form.requestSubmit(submitter));
  });
  addEventListener('pageshow', () => (isSubmitting = false));
  addEventListener('online', saveNext);
  addEventListener('pagehide', () => void save());
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') saveNext();
  });
  document.addEventListener('submit', ({ target }) => {
    // Leaving the page must not bring back what was discarded.
    if (target instanceof HTMLFormElement && target.action.endsWith('?action=discard')) isSubmitting = true;
  });
  addEventListener('beforeunload', (event) => {
    if (failures > 0 && !isSubmitting && textOf() !== stored) event.preventDefault();
  });
}
