import { h, show } from '../../../../kit/browser/dom.ts';
import { createAvatar } from './avatar.ts';
import { buttonLabels } from './button-labels.ts';
import { faceIcon } from './icons.ts';
import type { WidgetBot } from '../../widget/protocol.ts';

export interface Teaser {
  readonly element: HTMLElement;
  show(text: string): void;
  hide(): void;
}

export interface TeaserInit {
  readonly bot: WidgetBot;
  readonly onOpen: () => void;
  readonly onDismiss: () => void;
}

/** A message beside the button: an invitation, or the answer that arrived while the window was closed. */
export function createTeaser({ bot, onOpen, onDismiss }: TeaserInit): Teaser {
  const dismissLabel = bot.texts.dismiss || buttonLabels.dismiss;
  const text = h('span', { class: 'teaser-text', dir: 'auto' });
  const dismiss = (): void => {
    show(card, false);
    onDismiss();
  };
  const card = h(
    'div',
    { class: 'teaser', hidden: true },
    h('button', { type: 'button', class: 'teaser-open', onclick: onOpen }, createAvatar(bot), text),
    h(
      'button',
      {
        type: 'button',
        class: 'teaser-close',
        'aria-label': dismissLabel,
        title: dismissLabel,
        onclick: dismiss,
      },
      faceIcon('close'),
    ),
  );
  card.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') dismiss();
  });
  return {
    element: h('div', { role: 'status' }, card),
    show(content) {
      text.textContent = content.length > 200 ? `${content.slice(0, 200)}…` : content;
      show(card, content !== '');
    },
    hide: () => void show(card, false),
  };
}
