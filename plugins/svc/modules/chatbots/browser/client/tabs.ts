import type { Chat } from './chat.ts';
import type { MessageEntry } from './entry.ts';

export interface Tabs {
  tell(entry: MessageEntry): void;
  close(): void;
}

interface Told {
  readonly conversation: string;
  readonly entry: MessageEntry;
}

/**
 * Tabs of one conversation show each other's messages, each once, whichever way it came. Where tabs cannot speak to each
 * other they look again when they are looked at.
 */
export function openTabs(name: string, chat: Chat): Tabs {
  const look = (): void => {
    if (document.visibilityState === 'visible') void chat.refresh().catch(() => undefined);
  };
  document.addEventListener('visibilitychange', look);
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : null;
  channel?.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    // A tab that has shown nothing yet joins the conversation that another one begins.
    if (chat.conversation === null && chat.entries.length === 0 && chat.phase === 'ready')
      chat.setConversation(data.conversation);
    if (chat.conversation !== data.conversation) return;
    const known = chat.entries.find((entry) => entry.kind === 'message' && entry.id === data.entry.id);
    if (known?.kind === 'message') Object.assign(known, data.entry, { key: known.key });
    else chat.entries.push(data.entry);
    chat.init.onChange();
  });
  return {
    tell(entry) {
      if (chat.conversation !== null)
        channel?.postMessage({ conversation: chat.conversation, entry: { ...entry } } satisfies Told);
    },
    close() {
      document.removeEventListener('visibilitychange', look);
      channel?.close();
    },
  };
}
