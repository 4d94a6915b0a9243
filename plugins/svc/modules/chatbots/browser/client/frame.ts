import { h, show } from '../../../../kit/browser/dom.ts';
import { icon } from './icons.ts';
import { createAvatar } from './header.ts';
import type { WidgetBot } from '../../widget/protocol.ts';
import type { BotTexts } from '../../bots/bot.ts';
import type { Panel } from './panel.ts';

/** Screens on which a popup fills the screen; the same query is in widget.css. */
const smallScreen = '(max-width: 480px), (max-height: 480px)';

export interface Frame {
  readonly isOpen: boolean;
  open(focus?: boolean): void;
  close(focus?: boolean): void;
  /** Marks an answer that arrived while the window was closed. */
  showUnread(): void;
  destroy(): void;
}

export interface FrameInit {
  readonly wrapper: HTMLElement;
  readonly bot: WidgetBot;
  readonly texts: BotTexts;
  readonly panel: Panel;
  readonly onToggle: (open: boolean) => void;
}

/** The popup: a button in a corner and the window that it opens. */
export function createPopup({ wrapper, bot, texts, panel, onToggle }: FrameInit): Frame {
  const { element } = panel;
  const dot = h('span', { class: 'dot', hidden: true });
  const launcher = h(
    'button',
    {
      type: 'button',
      class: 'launcher',
      'aria-haspopup': 'dialog',
      onclick: () => (element.hidden ? open() : close()),
    },
    h('span', { class: 'face' }, bot.look.avatar_url ? createAvatar(bot) : icon(bot.look.icon)),
    h('span', { class: 'face away' }, icon('close')),
    dot,
  );
  const screen = matchMedia(smallScreen);
  const stopFitting = fitToViewport(element);
  const label = (isOpen: boolean): void => {
    launcher.setAttribute('aria-expanded', String(isOpen));
    launcher.setAttribute('aria-label', isOpen ? texts.close : texts.open);
    wrapper.classList.toggle('open', isOpen);
    // A window that fills the screen is modal.
    element.setAttribute('aria-modal', String(isOpen && screen.matches));
  };
  const toggle = (isOpen: boolean): void => {
    if (element.hidden !== isOpen) return;
    show(element, isOpen);
    label(isOpen);
    if (isOpen) {
      show(dot, false);
      panel.update();
    }
    onToggle(isOpen);
  };
  const open = (focus = true): void => {
    toggle(true);
    if (focus) panel.focus();
  };
  const close = (focus = true): void => {
    toggle(false);
    if (focus) launcher.focus();
  };
  element.hidden = true;
  element.setAttribute('role', 'dialog');
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.isComposing) {
      event.stopPropagation();
      close();
    } else if (event.key === 'Tab' && screen.matches) trapFocus(element, event);
  });
  label(false);
  wrapper.append(launcher, element);
  return {
    get isOpen() {
      return !element.hidden;
    },
    open,
    close,
    showUnread: () => void show(dot, element.hidden !== false),
    destroy: stopFitting,
  };
}

/** The window within the page, always open. */
export function createEmbedded({ wrapper, panel, onToggle }: FrameInit): Frame {
  const { element } = panel;
  const stopFitting = wrapper.dataset.mode === 'page' ? fitToViewport(element) : () => undefined;
  wrapper.append(element);
  onToggle(true);
  return {
    isOpen: true,
    open: (focus = true) => focus && panel.focus(),
    close: () => undefined,
    showUnread: () => undefined,
    destroy: stopFitting,
  };
}

/** Keeps Tab within the window. */
function trapFocus(element: HTMLElement, event: KeyboardEvent): void {
  const all = [
    ...element.querySelectorAll<HTMLElement>('button, textarea, input, select, a[href], summary, [tabindex="0"]'),
  ].filter((item) => item.getClientRects().length > 0 && item.tabIndex >= 0);
  const active = (element.getRootNode() as ShadowRoot).activeElement;
  const [first, last] = [all[0], all[all.length - 1]];
  if (active !== (event.shiftKey ? first : last) && active !== element) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

/** Passes the visible height to the styles, because an on-screen keyboard covers part of the window. */
function fitToViewport(element: HTMLElement): () => void {
  const view = window.visualViewport;
  if (!view) return () => undefined;
  const fit = (): void => {
    element.style.setProperty('--view-height', `${view.height}px`);
    element.style.setProperty('--view-top', `${view.offsetTop}px`);
  };
  fit();
  for (const name of ['resize', 'scroll']) view.addEventListener(name, fit);
  return () => {
    for (const name of ['resize', 'scroll']) view.removeEventListener(name, fit);
  };
}
