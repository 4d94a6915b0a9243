import type { Chat } from './chat.ts';
import { h } from '../../../../kit/browser/dom.ts';
import type { Surroundings } from './surroundings.ts';

/** The conversation as a text, Markdown or plain. */
export function transcriptOf(
  chat: Pick<Chat, 'entries'>,
  { bot, texts }: Pick<Surroundings, 'bot' | 'texts'>,
  kind: 'md' | 'txt',
): string {
  const name = texts.title || bot.name;
  const messages = chat.entries.flatMap((entry) => {
    if (entry.kind !== 'message' || entry.content === '') return [];
    const author = entry.role === 'user' ? texts.you : name;
    const time = new Date(entry.createdAt).toLocaleString();
    return [kind === 'md' ? `**${author}** (${time})\n\n${entry.content}` : `${author} (${time}):\n${entry.content}`];
  });
  return `${[kind === 'md' ? `# ${name}` : name, ...messages].join('\n\n')}\n`;
}

/** Saves a text as a file of the visitor's. */
export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
