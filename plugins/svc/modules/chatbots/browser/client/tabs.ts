import type { Chat } from './chat.ts';
import type { MessageEntry } from './entry.ts';

export interface Tabs {
  publish(entry: MessageEntry): void;
  close(): void;
}

interface TabMessage {
  readonly conversation: string;
  readonly entry: MessageEntry;
}

/**
 * Shares messages between the tabs of one conversation; each is shown once. Browsers without BroadcastChannel reload the
 * conversation when a tab becomes visible.
 */
export function openTabs(name: string, chat: Chat): Tabs {
  const refresh = (): void => {
    if (document.visibilityState === 'visible') void chat.refresh().catch(() => undefined);
  };
  document.addEventListener('visibilitychange', refresh);
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : null;
  channel?.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    // An empty tab joins the conversation that another tab starts.
    if (chat.conversation === null && chat.entries.length === 0 && chat.phase === 'ready')
      chat.setConversation(data.conversation);
    if (chat.conversation !== data.conversation) return;
    const known = chat.entries.find((entry) => entry.kind === 'message' && entry.id === data.entry.id);
    if (known?.kind === 'message') Object.assign(known, data.entry, { key: known.key });
    else chat.entries.push(data.entry);
    chat.init.onChange();
  });
  return {
    publish(entry) {
      if (chat.conversation !== null)
        channel?.postMessage({ conversation: chat.conversation, entry: { ...entry } } satisfies TabMessage);
    },
    close() {
      document.removeEventListener('visibilitychange', refresh);
      channel?.close();
    },
  };
}
