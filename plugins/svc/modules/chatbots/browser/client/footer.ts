import { createComposer, type Composer } from './composer.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import { renderMarkdown } from '../../../../kit/browser/markdown.ts';
import type { Store } from './storage.ts';
import type { Environment } from './environment.ts';

export interface Footer {
  readonly element: HTMLElement;
  readonly composer: Composer;
  update(): void;
  /** Whatever one does first: write, or agree. */
  focus(): void;
}

/** The field to write in, or what stands in its place: a question for consent, or that the limit is reached. */
export function createFooter(environment: Environment, { session, onSend }: { session: Store; onSend: () => void }): Footer {
  const { bot, texts, chat } = environment;
  const composer = createComposer(environment, { session, onSend });
  const agree = h('button', { type: 'button', class: 'primary', onclick: () => chat.consent() }, texts.consent_button);
  const question = h('div', { class: 'question', dir: 'auto' });
  if (bot.consent.text) question.append(renderMarkdown(bot.consent.text));
  const consent = h('div', { class: 'notice consent' }, question, agree);
  const limit = h('div', { class: 'notice limit', role: 'status' });
  const element = h(
    'footer',
    { class: 'foot' },
    consent,
    limit,
    composer.element,
    texts.footer ? h('p', { class: 'small-print', dir: 'auto' }, texts.footer) : null,
  );
  let until = '';
  const watchLimit = (): void => {
    const next = chat.limit?.until ?? '';
    if (next === until) return;
    until = next;
    if (!chat.limit) return;
    const wait = Date.parse(next) - Date.now();
    // Timers count no further than some 24 days.
    if (wait < 2e9) setTimeout(() => void chat.recheck().catch(() => undefined), Math.max(0, wait) + 1_000);
    limit.replaceChildren(
      h('p', { dir: 'auto' }, chat.limit.message),
      h('p', { class: 'until' }, texts.again.replace('{time}', timeOf(next))),
    );
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

/** Time of the day, with its date unless it is today. */
function timeOf(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return '';
  const today = time.toDateString() === new Date().toDateString();
  return time.toLocaleString(undefined, {
    ...(!today && { weekday: 'long', day: 'numeric', month: 'long' }),
    hour: '2-digit',
    minute: '2-digit',
  });
}
