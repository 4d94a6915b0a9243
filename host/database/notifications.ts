import type { Logger, Undo } from '#plugin-api';
import type { GapCallback, NotificationCallback, Notifier, NotifierEvents } from './dialects/dialect.ts';

interface Listener {
  readonly callback: NotificationCallback;
  readonly onGap: GapCallback | undefined;
}

export interface Notifications extends NotifierEvents {
  listen(notifier: Notifier, channel: string, listener: Listener): Promise<Undo>;
}

/** Dispatches received notifications to listeners. A listener that throws is logged; the others still run. */
export function createNotifications(log: Logger): Notifications {
  const channels = new Map<string, { readonly listeners: Set<Listener>; readonly ready: Promise<void> }>();

  function runSafely(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      log.error('Listener of database notifications failed', { event: 'notification_listener_failed', error });
    }
  }

  return {
    received(channel, payload) {
      for (const listener of channels.get(channel)?.listeners ?? [])
        runSafely(() => {
          listener.callback(payload);
        });
    },
    gap() {
      for (const { listeners } of channels.values())
        for (const { onGap } of listeners) if (onGap !== undefined) runSafely(onGap);
    },
    async listen(notifier, channel, listener) {
      const entry = channels.get(channel) ?? { listeners: new Set<Listener>(), ready: notifier.subscribe(channel) };
      channels.set(channel, entry);
      entry.listeners.add(listener);
      try {
        await entry.ready;
      } catch (error) {
        channels.delete(channel);
        throw error;
      }
      return () => {
        if (!entry.listeners.delete(listener) || entry.listeners.size > 0) return;
        channels.delete(channel);
        notifier.unsubscribe(channel).catch((error: unknown) => {
          log.warn('Failed to stop listening to a database channel', { event: 'unlisten_failed', channel, error });
        });
      };
    },
  };
}

export function assertChannel(channel: string): void {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(channel)) {
    throw new Error(
      `'${channel}' is not a valid channel; use up to 63 lower-case letters, digits and '_', starting with a letter.`,
    );
  }
}
