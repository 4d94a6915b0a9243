import type { WidgetBot } from '../../widget/protocol.ts';
import { routeAddress } from '../../../../kit/browser/address.ts';
import { createAvatar } from './avatar.ts';
import type { ChatEvent } from './chat.ts';
import type { ChatWindow } from './chat-window.ts';
import { reportFailure, reportProblem } from './report.ts';
import { h } from '../../../../kit/browser/dom.ts';
import type { Failure } from './failure.ts';
import { createEmbedded, createPopup, smallScreen, type Frame } from './frame.ts';
import { applyTheme } from './appearance.ts';
import { loadWindow, provideWindow, type WindowScript } from './load-window.ts';
import { describeBot } from './request.ts';
import { createStore, type Store } from './storage.ts';
import { addStyles } from './styles.ts';
import css from './widget.css';

interface Built {
  readonly frame: Frame;
  readonly removeTheme: () => void;
  /** Loads the window; null if that failed. */
  readonly load: () => Promise<ChatWindow | null>;
  /** Null until it is loaded. */
  window: ChatWindow | null;
}

/** REST root of the first script, for elements without `root`. */
let defaultRoot = '';
export function setDefaultRoot(root: string): void {
  defaultRoot ||= root;
}

/**
 * `<svc-chatbot bot="7">`. Attributes: `bot`, `root` (REST root), `mode`, `theme`, `open`, `still`, `lang`, `dir`.
 * Methods: `open()`, `close()`, `send(text)`, `newChat()`, `preview(bot)`. Events: README.
 */
export class SvcChatbot extends HTMLElement {
  private built: Built | null = null;
  private shadow: ShadowRoot | null = null;
  private bot: WidgetBot | null = null;
  private alive = 0;

  connectedCallback(): void {
    const turn = ++this.alive;
    if (this.built) return;
    // A page may set attributes right after it created the element.
    queueMicrotask(() => {
      if (turn === this.alive && this.isConnected) void this.begin(turn);
    });
  }

  disconnectedCallback(): void {
    this.alive++;
    // An element that is moved within the page keeps its conversation.
    queueMicrotask(() => {
      if (!this.isConnected) this.teardown();
    });
  }

  /** Opens the window and focuses its input. */
  open(): void {
    void this.built?.frame.open();
  }

  close(): void {
    this.built?.frame.close();
  }

  /** Sends a message as the visitor. Returns false if it cannot be sent now. */
  send(text: string): boolean {
    const { built } = this;
    if (!built) return false;
    if (built.window) return built.window.chat.send(String(text));
    if (this.bot?.consent.required || String(text).trim() === '') return false;
    void built.load().then((window) => window?.chat.send(String(text)));
    return true;
  }

  newChat(): void {
    void this.built?.load().then((window) => window?.chat.newChat());
  }

  /** For the script of the window. */
  static provideWindow = provideWindow;

  /** Shows the bot with other settings and starts a new conversation. For editors. */
  preview(bot: WidgetBot): void {
    const isOpen = this.built?.frame.isOpen ?? false;
    this.teardown();
    this.bot = bot;
    if (this.isConnected) this.build(bot);
    if (isOpen && this.built) void (this.built as Built).frame.open(false);
  }

  private get root(): string {
    let root = this.getAttribute('root') ?? defaultRoot;
    while (root.endsWith('/')) root = root.slice(0, -1);
    return root;
  }

  private get botId(): string {
    return this.getAttribute('bot') ?? '';
  }

  private async begin(turn: number): Promise<void> {
    const { root, botId } = this;
    if (!/^[1-9]\d*$/.test(botId))
      return reportProblem(
        `The chatbot id is missing or invalid: "${botId}". Add bot="7" to <svc-chatbot>, or data-bot="7" to the script tag.`,
      );
    if (root === '')
      return reportProblem(
        'The service address is missing. Load widget.js, or add root="https://site/wp-json" to <svc-chatbot>.',
      );
    const bot = this.bot ?? (await this.describe());
    if (!bot || turn !== this.alive) return;
    this.bot = bot;
    this.build(bot);
  }

  /** Loads the bot's settings. While offline, it retries when the connection is back. */
  private async describe(): Promise<WidgetBot | null> {
    const { root, botId } = this;
    try {
      return await describeBot(root, botId);
    } catch (error) {
      await reportFailure(error as Failure, { root, botId });
      if (!navigator.onLine)
        addEventListener('online', () => this.isConnected && !this.built && void this.begin(this.alive), {
          once: true,
        });
      return null;
    }
  }

  private build(bot: WidgetBot): void {
    const { root, botId } = this;
    const mode = (this.getAttribute('mode') ?? bot.look.mode) as WidgetBot['look']['mode'];
    // A popup next to its script tag could be clipped by the elements around it.
    if (mode === 'popup' && this.hasAttribute('placed') && this.parentElement !== document.body)
      document.body.append(this);
    this.setAttribute('shown-as', mode);
    const wrapper = h('div', { class: 'svc', 'data-mode': mode });
    const removeTheme = applyTheme({ wrapper, host: this, bot });
    const prefix = `svc-chatbot:${root}:${botId}:`;
    const session = createStore(() => sessionStorage, prefix);
    const init: WindowInit = {
      ...{ root, botId, bot, session, channel: prefix },
      local: createStore(() => localStorage, prefix),
      language: wrapper.lang,
      createAvatar: () => createAvatar(bot),
      onClose: mode === 'popup' ? () => this.close() : null,
      onEvent: (event, text) => this.handleEvent(event, text),
      onFailure: (failure) =>
        void (failure.status === 0 && !navigator.onLine ? null : reportFailure(failure, { root, botId })),
    };
    this.shadow ??= this.attachShadow({ mode: 'open' });
    this.shadow.replaceChildren(wrapper);
    addStyles(this.shadow, css, routeAddress(root, '/svc-widget/v1/widget.css'));
    const load = createLoader(init, (window) => this.built?.load === load && this.addWindow(window));
    const frame = (mode === 'popup' ? createPopup : createEmbedded)({
      ...{ wrapper, bot },
      load: async () => (await load())?.panel ?? null,
      onToggle: (open) => this.toggled(open, session),
      onDismiss: () => session.set('invited', 'yes'),
    });
    this.built = { frame, removeTheme, load, window: null };
    if (mode === 'popup') this.openAutomatically({ frame, session, bot });
  }

  /** Called when the window is loaded. An element that was removed meanwhile does not need it. */
  private addWindow(window: ChatWindow): boolean {
    if (!this.built || !this.shadow) return false;
    this.built.window = window;
    addStyles(this.shadow, window.css, routeAddress(this.root, '/svc-widget/v1/chat.css'));
    return true;
  }

  private openAutomatically({ frame, session, bot }: { frame: Frame; session: Store; bot: WidgetBot }): void {
    const { open_after: after, invite_after: wait } = bot.look;
    if (this.hasAttribute('open')) return void frame.open(false);
    const isUntouched = (): boolean =>
      this.built?.frame === frame && session.get('open') === '' && session.get('invited') === '';
    if (bot.texts.invitation && isUntouched())
      setTimeout(() => isUntouched() && frame.tease(bot.texts.invitation), wait * 1_000);
    // On a small screen the window would cover the page.
    if (matchMedia(smallScreen).matches) return;
    if (session.get('open') === 'yes') return void frame.open(false);
    if (after > 0 && session.get('open') === '')
      setTimeout(
        () => this.built?.frame === frame && session.get('open') === '' && void frame.open(false),
        after * 1_000,
      );
  }

  private toggled(open: boolean, session: Store): void {
    session.set('open', open ? 'yes' : 'no');
    // Editors can look at a bot that is not active.
    if (open && !this.hasAttribute('still')) void this.built?.window?.chat.start().catch(() => undefined);
    this.emit(open ? 'open' : 'close', {});
  }

  private handleEvent(event: ChatEvent, text: string): void {
    const { built } = this;
    if (!built) return;
    if (event.type === 'reply') {
      built.frame.tease(text, { unread: true });
      this.emit('reply', { id: event.entry.id, content: event.entry.content });
    } else {
      const { type, ...detail } = event;
      this.emit(type, detail);
    }
  }

  private emit(name: string, detail: object): void {
    this.dispatchEvent(new CustomEvent(`svc:${name}`, { detail, bubbles: true, composed: true }));
  }

  private teardown(): void {
    const { built } = this;
    this.built = null;
    built?.removeTheme();
    built?.window?.destroy();
    this.shadow?.replaceChildren();
  }
}

type WindowInit = Parameters<WindowScript['create']>[0];

/** Creates the window once. @param add returns whether the element still needs it */
function createLoader(init: WindowInit, add: (window: ChatWindow) => boolean): () => Promise<ChatWindow | null> {
  let loading: Promise<ChatWindow | null> | null = null;
  return () => {
    loading ??= loadWindow(init.root).then(
      (script) => {
        const window = script.create(init);
        if (add(window)) return window;
        window.destroy();
        return null;
      },
      () => {
        loading = null;
        reportProblem(
          `The chat window could not be loaded from ${init.root}. Allow that address in script-src of the page's security policy.`,
        );
        return null;
      },
    );
    return loading;
  };
}
