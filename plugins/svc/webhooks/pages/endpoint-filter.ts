import { errorText, formatDate, isRecord, type AdminActionResult, type AdminRequest } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import { readContentFilter, type ContentFilter } from '../content-filter.ts';
import type { Envelope } from '../event.ts';
import { stringsIn } from './endpoint-form.ts';
import type { WebhookPagesContext } from './pages-context.ts';

/** Events that a filter is tried on. */
const tried = 50;

interface TriedEvent {
  readonly name: string;
  /** The label or id of what the event is about; '' if it names none. */
  readonly about: string;
  /** In the time zone of the site, as the page shows times. */
  readonly at: string;
  readonly matches: boolean;
}

/** What the typed filter matches: among the last events of the chosen names, and their examples. Nothing is saved. */
export async function tryFilter(
  { host, webhooks }: WebhookPagesContext,
  request: AdminRequest,
): Promise<AdminActionResult> {
  const names = new Set(stringsIn(request.form['events']).map((name) => webhooks.catalogue.resolveName(name) ?? name));
  try {
    const filter = readContentFilter(readText(request, 'filter'));
    const stored = await webhooks.deliveryLog.recentEvents(tried);
    const chosen = stored.filter(({ type }) => names.size === 0 || names.has(type));
    const timezone = await host.site.timezone();
    const events = chosen.map((envelope) => toTried(envelope, filter, timezone));
    return { readOnly: true, data: { error: null, events } };
  } catch (error) {
    return { readOnly: true, data: { error: errorText(error), events: [] } };
  }
}

function toTried(envelope: Envelope, filter: ContentFilter, timezone: string): TriedEvent {
  const { label, id } = isRecord(envelope.resource) ? envelope.resource : {};
  return {
    name: envelope.type,
    about: String(label ?? id ?? ''),
    at: formatDate(envelope.occurred_at, 'dateTime', timezone),
    matches: filter(envelope),
  };
}
