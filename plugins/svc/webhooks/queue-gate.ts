import type { HostApi } from '#plugin-api';
import type { SettingsStore } from './settings-store.ts';

const filter = 'svc_event_delivery_queue_processing_enabled';

/**
 * Returns whether the queue may be worked: the settings can be read and no plugin blocks it. A filter that throws does not
 * block the queue (D24). A failure is logged once until the filter succeeds again.
 */
export function createQueueGate(
  { hooks, log }: Pick<HostApi, 'hooks' | 'log'>,
  settings: Pick<SettingsStore, 'current'>,
): () => Promise<boolean> {
  let isLogged = false;

  function logOnce(message: string, fields: Readonly<Record<string, unknown>>): void {
    if (!isLogged) log.error(message, fields);
    isLogged = true;
  }

  return async () => {
    try {
      await settings.current();
    } catch (error) {
      logOnce('Webhook settings are unreadable; the queue is blocked', { event: 'webhook_settings_unreadable', error });
      return false;
    }
    try {
      const isOpen = hooks.hasFilter(filter) === false || Boolean(await hooks.applyFiltersAsync(filter, true));
      isLogged = false;
      return isOpen;
    } catch (error) {
      logOnce('Queue filter failed; the queue is worked', { event: 'webhook_queue_filter_failed', filter, error });
      return true;
    }
  };
}
