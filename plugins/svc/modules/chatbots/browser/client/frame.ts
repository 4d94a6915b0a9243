import { h, show } from '../../../../kit/browser/dom.ts';
import { createAvatar } from './avatar.ts';
import { buttonLabels } from './button-labels.ts';
import { faceIcon } from './icons.ts';
import { createTeaser } from './teaser.ts';
import type { WidgetBot } from '../../widget/protocol.ts';
import type { Panel } from './panel.ts';

/** Screens on which a popup fills the screen; the same query is in widget.css and chat.css. */
export const smallScreen = '(max-width: 480px), (max-height: 480px)';

export interface Frame {
  readonly isOpen: boolean;
  /** Loads the window if it is not loaded yet. */
  open(focus?: boolean): Promise<void>;
  close(focus?: boolean): void;
  /** Shows a text beside the button while the window is closed, for an answer with a dot. */
  tease(text: string, options?: { readonly unread: boolean }): void;
}

export interface FrameInit {
  readonly wrapper: HTMLElement;
  readonly bot: WidgetBot;
  /** Null if the window could not be loaded. */
  readonly load: () => Promise<Panel | null>;
  readonly onToggle: (open: boolean) => void;
  readonly onDismiss: () => void;
}

/** The popup: a button in a corner and the window that it opens. */
export function createPopup({ wrapper, bot, load, onToggle, onDismiss }: FrameInit): Frame {
  let panel: HTMLElement | null = null;
  let wanted = false;
  const text = (name: keyof typeof buttonLabels): string => bot.texts[name] || buttonLabels[name];
  const dot = h('span', { class: 'dot', hidden: true });
  const launcher = h(
    'button',
    { type: 'button', class: 'launcher', 'aria-haspopup': 'dialog', onclick: () => void (wanted ? close() : open()) },
    h('span', { class: 'face' }, bot.look.avatar_url ? createAvatar(bot) : faceIcon(bot.look.icon)),
    h('span', { class: 'face away' }, faceIcon('minimize')),
    dot,
  );
  const teaser = createTeaser({ bot, onOpen: () => void open(), onDismiss });
  const screen = matchMedia(smallScreen);
  const label = (isOpen: boolean): void => {
    launcher.setAttribute('aria-expanded', String(isOpen));
    launcher.setAttribute('aria-label', text(isOpen ? 'close' : 'open'));
    wrapper.classList.toggle('open', isOpen);
    // A window that fills the screen is modal.
    panel?.setAttribute('aria-modal', String(isOpen && screen.matches));
  };
  const toggle = (isOpen: boolean): void => {
    if (!panel || panel.hidden !== isOpen) return;
    show(panel, isOpen);
    label(isOpen);
    if (isOpen) show(dot, false);
    onToggle(isOpen);
  };
  const attach = ({ element, fit }: Panel): void => {
    panel = element;
    panel.hidden = true;
    fit();
    wrapper.append(panel);
  };
  const open = async (focus = true): Promise<void> => {
    wanted = true;
    teaser.hide();
    launcher.setAttribute('aria-busy', 'true');
    const loaded = await load();
    launcher.removeAttribute('aria-busy');
    if (!loaded) {
      wanted = false;
      return teaser.show(text('error'));
    }
    if (!panel) attach(loaded);
    // The visitor may have clicked again meanwhile.
    if (!wanted) return;
    toggle(true);
    loaded.update();
    if (focus) loaded.focus();
  };
  const close = (focus = true): void => {
    wanted = false;
    toggle(false);
    if (focus) launcher.focus();
  };
  // Most visitors who point at the button also open it.
  launcher.addEventListener('pointerenter', () => void load(), { once: true });
  label(false);
  wrapper.append(launcher, teaser.element);
  return {
    get isOpen() {
      return wanted;
    },
    open,
    close,
    tease(text, { unread } = { unread: false }) {
      if (wanted) return;
      teaser.show(text);
      if (unread) show(dot, true);
    },
  };
}

/** The window within the page, always open. */
export function createEmbedded({ wrapper, load, onToggle }: FrameInit): Frame {
  const loaded = load().then((panel) => {
    if (!panel) return null;
    if (wrapper.dataset.mode === 'page') panel.fit();
    wrapper.append(panel.element);
    panel.update();
    onToggle(true);
    return panel;
  });
  return {
    isOpen: true,
    open: async (focus = true) => {
      const panel = await loaded;
      if (focus) panel?.focus();
    },
    close: () => undefined,
    tease: () => undefined,
  };
}
