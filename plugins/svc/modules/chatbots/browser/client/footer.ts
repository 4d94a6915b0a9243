import { createComposer, type Composer } from './composer.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import { renderMarkdown } from '../../../../kit/browser/markdown.ts';
import type { Store } from './storage.ts';
import { formatDay } from './time.ts';
import type { Environment } from './environment.ts';

export interface Footer {
  readonly element: HTMLElement;
  readonly composer: Composer;
  update(): void;
  /** Focuses the input, or the consent button. */
  focus(): void;
}

/** The input, or instead of it the question for consent or the limit. */
export function createFooter(
  environment: Environment,
  { session, onSend }: { session: Store; onSend: () => void },
): Footer {
  const { bot, texts, chat } = environment;
  const composer = createComposer(environment, { session, onSend });
  const agree = h('button', { type: 'button', class: 'primary', onclick: () => chat.consent() }, texts.consent_button);
  const question = h('div', { class: 'question', dir: 'auto' });
  if (bot.consent.text) question.append(renderMarkdown(bot.consent.text, { imageOrigins: 'any' }));
  const consent = h('div', { class: 'notice consent' }, question, agree);
  const limit = h('div', { class: 'notice limit', role: 'status' });
  const element = h(
    'div',
    { class: 'foot' },
    consent,
    limit,
    composer.element,
    texts.footer ? h('p', { class: 'small-print', dir: 'auto' }, texts.footer) : null,
  );
  let shown = '';
  const watchLimit = (): void => {
    const next = JSON.stringify(chat.limit);
    if (next === shown) return;
    shown = next;
    if (!chat.limit) return;
    const { message, until } = chat.limit;
    limit.replaceChildren(h('p', { dir: 'auto' }, message));
    // Guests who may not chat have nothing to wait for.
    if (until === null) return;
    const wait = Date.parse(until) - Date.now();
    // Timers are limited to about 24 days.
    if (wait < 2e9) setTimeout(() => void chat.recheck().catch(() => undefined), Math.max(0, wait) + 1_000);
    limit.append(h('p', { class: 'until' }, texts.again.replace('{time}', formatReset(until, environment.locale))));
  };
  const focus = (): void => (chat.consented ? composer.field : agree).focus();
  return {
    element,
    composer,
    focus,
    update() {
      const agreeing = !consent.hidden && (agree.getRootNode() as ShadowRoot).activeElement === agree;
      show(consent, !chat.consented);
      show(limit, chat.limit !== null);
      watchLimit();
      composer.update();
      if (agreeing && chat.consented) focus();
    },
  };
}

/** The day, with the time unless it is midnight: `Monday, 23 November`. */
function formatReset(iso: string, locale: string): string {
  const time = new Date(iso);
  const isMidnight = time.getHours() + time.getMinutes() === 0;
  return formatDay(time, locale, isMidnight ? {} : { hour: '2-digit', minute: '2-digit' });
}
