import { h, show } from '../../../../kit/browser/dom.ts';
import { icon, type IconName } from './chat-icons.ts';
import { iconButton } from './message-actions.ts';
import type { Environment } from './environment.ts';
import type { Chat } from './chat.ts';

export interface Header {
  readonly element: HTMLElement;
  readonly title: HTMLElement;
  update(): void;
}

/** Name and avatar of the bot, and the menu of the conversation. */
export function createHeader(
  environment: Environment,
  { onClose, onNewChat }: { onClose: (() => void) | null; onNewChat: () => void },
): Header {
  const { bot, texts, chat } = environment;
  const title = h('h2', { class: 'title', dir: 'auto' }, texts.title || bot.name);
  const menu = createMenu(environment, onNewChat);
  // Where the button in the corner is hidden; else the button closes the window.
  const close = iconButton('close', texts.close, () => onClose?.());
  close.classList.add('close');
  const element = h(
    'div',
    { class: 'head' },
    environment.createAvatar(),
    h(
      'div',
      { class: 'titles' },
      title,
      texts.subtitle ? h('p', { class: 'subtitle', dir: 'auto' }, texts.subtitle) : null,
    ),
    menu.element,
    onClose && close,
  );
  return {
    element,
    title,
    update() {
      if (!show(menu.element, chat.entries.length > 0)) menu.close();
    },
  };
}

/** Menu: a new chat, and the transcript in two formats. */
function createMenu(environment: Environment, onNewChat: () => void): { element: HTMLElement; close(): void } {
  const { texts, chat, bot } = environment;
  const save = (kind: 'txt' | 'md'): void =>
    saveFile(
      `${(bot.name || 'chat').replace(/[^\p{L}\p{N}]+/gu, '-')}.${kind}`,
      formatTranscript(chat, environment, kind),
    );
  const actions: readonly [IconName, string, () => void][] = [
    ['edit', texts.new_chat, onNewChat],
    ['download', `${texts.download} (.txt)`, () => save('txt')],
    ['download', `${texts.download} (.md)`, () => save('md')],
  ];
  const button = iconButton('more', `${texts.new_chat}, ${texts.download}`, () => toggle(menu.hidden !== false));
  const items = actions.map(([name, label, run]) => {
    const onclick = (): void => {
      close();
      run();
      if (chat.entries.length > 0) button.focus();
    };
    return h('button', { type: 'button', role: 'menuitem', tabindex: -1, onclick }, icon(name), label);
  });
  const menu = h('div', { class: 'menu', role: 'menu', 'aria-label': button.title, hidden: true }, ...items);
  const element = h('div', { class: 'menu-frame' }, button, menu);
  const toggle = (open: boolean): void => {
    show(menu, open);
    button.setAttribute('aria-expanded', String(open));
    if (open) items[0]?.focus();
  };
  const close = (): void => toggle(false);
  button.setAttribute('aria-haspopup', 'menu');
  close();
  element.addEventListener('keydown', (event) => {
    if (menu.hidden) return;
    const index = items.indexOf((element.getRootNode() as ShadowRoot).activeElement as HTMLButtonElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) items[(index + step + items.length) % items.length]?.focus();
    else if (event.key === 'Escape') {
      close();
      button.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener('focusout', (event) => {
    if (!element.contains(event.relatedTarget as Node | null)) close();
  });
  return { element, close };
}

/** The conversation as Markdown or plain text, with times in the language of the page. */
function formatTranscript(
  chat: Pick<Chat, 'entries'>,
  { bot, texts, locale }: Pick<Environment, 'bot' | 'texts' | 'locale'>,
  kind: 'md' | 'txt',
): string {
  const name = texts.title || bot.name;
  const messages = chat.entries.flatMap((entry) => {
    if (entry.kind !== 'message' || entry.content === '') return [];
    const author = entry.role === 'user' ? texts.you : name;
    const time = new Date(entry.createdAt).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
    return [kind === 'md' ? `**${author}** (${time})\n\n${entry.content}` : `${author} (${time}):\n${entry.content}`];
  });
  return `${[kind === 'md' ? `# ${name}` : name, ...messages].join('\n\n')}\n`;
}

/** Downloads a text as a file. */
function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
