import type { WidgetBot } from '../../widget/protocol.ts';
import { createApi } from './api.ts';
import { routeAddress } from '../../../../kit/browser/address.ts';
import { Chat, type ChatEvent } from './chat.ts';
import { reportProblem, reportFailure } from './diagnose.ts';
import { h } from '../../../../kit/browser/dom.ts';
import type { Failure } from './failure.ts';
import { createEmbedded, createPopup, type Frame } from './frame.ts';
import { applyTheme } from './appearance.ts';
import { createPanel, type Panel } from './panel.ts';
import { createStore, type Store } from './storage.ts';
import { withDefaults } from './texts.ts';
import css from './widget.css';

let sheet: CSSStyleSheet | null = null;

/**
 * Adds the styles as a constructed sheet, which no policy of the page forbids, or else as the file next to the script.
 * Nothing is shown until they are loaded.
 */
function adoptStyles(shadow: ShadowRoot, wrapper: HTMLElement, address: string): void {
  if ('adoptedStyleSheets' in Document.prototype && 'replaceSync' in CSSStyleSheet.prototype) {
    if (!sheet) {
      sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
    }
    shadow.adoptedStyleSheets = [sheet];
    return;
  }
  wrapper.hidden = true;
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: address });
  link.addEventListener('load', () => (wrapper.hidden = false));
  shadow.prepend(link);
}

interface Built {
  readonly chat: Chat;
  readonly panel: Panel;
  readonly frame: Frame;
  readonly removeTheme: () => void;
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
    this.built?.frame.open();
  }

  close(): void {
    this.built?.frame.close();
  }

  /** Sends a message as the visitor. Returns false if it cannot be sent now. */
  send(text: string): boolean {
    return this.built?.chat.send(String(text)) ?? false;
  }

  newChat(): void {
    this.built?.chat.newChat();
  }

  /** Shows the bot with other settings and starts a new conversation. For editors. */
  preview(bot: WidgetBot): void {
    const isOpen = this.built?.frame.isOpen ?? false;
    this.teardown();
    this.bot = bot;
    if (this.isConnected) this.build(bot);
    if (isOpen && this.built) (this.built as Built).frame.open(false);
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
        `The chatbot id is missing or invalid: "${botId}". Use <svc-chatbot bot="7"></svc-chatbot> or ` +
          '<script src="…/svc-widget/v1/widget.js" data-bot="7" async></script>.',
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
      return await createApi(root, botId).describe();
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
    const local = createStore(() => localStorage, prefix);
    const session = createStore(() => sessionStorage, prefix);
    const texts = withDefaults(bot.texts, bot.name);
    const chat = new Chat({
      api: createApi(root, botId),
      bot,
      local,
      session,
      channel: prefix,
      onChange: () => redraw(),
      onEvent: (event) => this.handleEvent(event),
      onFailure: (failure) =>
        void (failure.status === 0 && !navigator.onLine ? null : reportFailure(failure, { root, botId })),
    });
    const panel = createPanel({
      environment: { bot, texts, chat },
      session,
      onClose: mode === 'popup' ? () => this.close() : null,
    });
    const redraw = createRedraw(() => this.built && panel.update());
    const onToggle = (open: boolean): void => this.toggled(open, { chat, session });
    const frame = (mode === 'popup' ? createPopup : createEmbedded)({ wrapper, bot, texts, panel, onToggle });
    this.built = { chat, panel, frame, removeTheme };
    this.shadow ??= this.attachShadow({ mode: 'open' });
    this.shadow.replaceChildren(wrapper);
    adoptStyles(this.shadow, wrapper, routeAddress(root, '/svc-widget/v1/widget.css'));
    panel.update();
    if (mode === 'popup') this.openAutomatically({ frame, session, after: bot.look.open_after });
  }

  private openAutomatically({ frame, session, after }: { frame: Frame; session: Store; after: number }): void {
    if (this.hasAttribute('open')) return frame.open(false);
    // On a small screen the window would cover the page.
    if (matchMedia('(max-width: 480px), (max-height: 480px)').matches) return;
    if (session.get('open') === 'yes') return frame.open(false);
    if (after > 0 && session.get('open') === '')
      setTimeout(() => this.built?.frame === frame && session.get('open') === '' && frame.open(false), after * 1_000);
  }

  private toggled(open: boolean, { chat, session }: { chat: Chat; session: Store }): void {
    session.set('open', open ? 'yes' : 'no');
    // Editors can look at a bot that is not active.
    if (open && !this.hasAttribute('still')) void chat.start().catch(() => undefined);
    this.emit(open ? 'open' : 'close', {});
  }

  private handleEvent(event: ChatEvent): void {
    const { built } = this;
    if (!built) return;
    built.panel.announceEvent(event);
    if (event.type === 'reply') {
      built.frame.showUnread();
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
    built?.frame.destroy();
    built?.panel.destroy();
    built?.chat.destroy();
    this.shadow?.replaceChildren();
  }
}

/** Redraws once per frame, however many changes there were; hidden tabs use a timer. */
function createRedraw(draw: () => void): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    const now = (): void => {
      due = false;
      draw();
    };
    if (document.hidden) setTimeout(now, 50);
    else requestAnimationFrame(now);
  };
}
