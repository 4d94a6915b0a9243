import type { WidgetBot } from '../../widget/protocol.ts';
import { h } from '../../../../kit/browser/dom.ts';
import { faceIcon } from './icons.ts';

/** The picture of the bot, or its icon. */
export function createAvatar({ look }: WidgetBot): HTMLElement {
  const safe = /^(https?:)?\/\//i.test(look.avatar_url) || look.avatar_url.startsWith('/');
  return h(
    'span',
    { class: 'avatar' },
    safe ? h('img', { src: look.avatar_url, alt: '', loading: 'lazy' }) : faceIcon(look.icon),
  );
}
