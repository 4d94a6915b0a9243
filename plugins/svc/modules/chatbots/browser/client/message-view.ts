import type { Source } from '../../conversations/conversation.ts';
import { copyText } from '../../../../kit/browser/clipboard.ts';
import { h, show } from '../../../../kit/browser/dom.ts';
import type { MessageEntry } from './entry.ts';
import { icon } from './chat-icons.ts';
import { createMarkdownView, type CodeBlock } from '../../../../kit/browser/markdown.ts';
import { createActions } from './message-actions.ts';
import { createTime } from './time.ts';
import type { Environment } from './environment.ts';

export interface EntryView {
  readonly element: HTMLElement;
  /** @param last whether it is the last entry */
  update(last: boolean): void;
}

/** A message with its author, sources, actions and error. */
export function createMessageView(entry: MessageEntry, environment: Environment): EntryView {
  const { texts, chat, locale } = environment;
  const mine = entry.role === 'user';
  const bubble = h('div', { class: 'bubble', dir: 'auto' });
  const markdown = createMarkdownView(bubble, {
    onCode: (code) => addCopy(code, environment),
    imageOrigins: environment.bot.image_origins,
  });
  const problem = createProblem(entry, environment);
  const below = h('div', { class: 'below' });
  const actions = mine ? null : createActions(entry, environment);
  const meta = h('p', { class: 'meta' });
  const author = h('span', { class: 'hidden' }, `${mine ? texts.you : texts.title}:`);
  const element = h(
    'li',
    { class: mine ? 'entry mine' : 'entry answered' },
    mine ? null : environment.createAvatar(),
    author,
    bubble,
    meta,
    below,
    problem.element,
  );
  if (!mine) {
    element.dataset.aiGenerated = 'true';
    if (environment.bot.look.disclose_ai) meta.append(h('span', {}, texts.ai), ' · ');
  }
  const time = h('span');
  meta.append(time);
  if (actions) below.append(actions.element);
  let sources: readonly Source[] = [];
  let shown: string | null = null;
  let shownTime = 0;
  return {
    element,
    update(last) {
      if (shown !== entry.content) {
        shown = entry.content;
        if (mine) bubble.textContent = entry.content;
        else markdown(entry.content);
      }
      if (shownTime !== entry.createdAt) {
        shownTime = entry.createdAt;
        time.replaceChildren(createTime(entry.createdAt, locale));
      }
      element.dataset.state = entry.state;
      show(meta, show(bubble, entry.content !== ''));
      if (entry.sources !== sources && entry.state === 'done') {
        sources = entry.sources;
        below.querySelector('.sources')?.remove();
        if (sources.length > 0) below.prepend(createSources(sources, texts.sources, chat.isAdmin));
      }
      element.classList.toggle('partial', entry.partial);
      actions?.update(last);
      problem.update();
    },
  };
}

function addCopy({ block, language, text }: CodeBlock, { texts, announce }: Environment): void {
  const button = h('button', { type: 'button', class: 'quiet small' }, icon('copy'), h('span', {}, texts.copy));
  button.addEventListener('click', () => {
    void copyText(text, block).then((copied) => {
      if (!copied) return;
      button.replaceChildren(icon('check'), h('span', {}, texts.copied));
      announce(texts.copied);
      setTimeout(() => button.replaceChildren(icon('copy'), h('span', {}, texts.copy)), 2_000);
    });
  });
  const frame = h(
    'div',
    { class: 'code', dir: 'ltr' },
    h('div', { class: 'code-head' }, h('span', {}, language), button),
  );
  block.replaceWith(frame);
  frame.append(block);
}

function createSources(sources: readonly Source[], label: string, withScores: boolean): HTMLElement {
  const items = sources.map(({ title, url, score }) => {
    const name = title || url;
    const safe = /^https?:\/\//i.test(url);
    return h(
      'li',
      {},
      safe
        ? h('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow', dir: 'auto' }, name)
        : h('span', { dir: 'auto' }, name),
      withScores && h('span', { class: 'score' }, `${Math.round(score)}%`),
    );
  });
  return h('details', { class: 'sources' }, h('summary', {}, `${label} (${sources.length})`), h('ol', {}, ...items));
}

function createProblem(entry: MessageEntry, { texts, chat }: Environment): { element: HTMLElement; update(): void } {
  const text = h('span', { dir: 'auto' });
  const again = h(
    'button',
    { type: 'button', class: 'quiet small', onclick: () => chat.retry(entry) },
    icon('again'),
    h('span', {}, texts.retry),
  );
  const element = h('div', { class: 'problem', hidden: true }, icon('warning'), text, again);
  return {
    element,
    update() {
      show(element, entry.state === 'failed');
      text.textContent = entry.error?.text || (entry.error?.isOutage ? texts.outage : texts.error);
      show(again, entry.error?.retry ?? false);
    },
  };
}
