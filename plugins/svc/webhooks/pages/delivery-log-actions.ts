import { formatCount, formatNumber, type AdminActionResult, type AdminPage, type AdminRequest } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import type { ReplayRequest } from '../delivery.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { readLocalMinute } from './local-time.ts';

const maxRate = 1000;

/** Actions of the page "Deliveries". Repeated clicks replay or retry a delivery only once. */
export function deliveryLogActions({
  host,
  webhooks: { deliveryLog },
}: DeliveryPagesContext): NonNullable<AdminPage['actions']> {
  const good = (text: string): AdminActionResult => ({ notice: { kind: 'success', text } });
  const info = (text: string): AdminActionResult => ({ notice: { kind: 'info', text } });
  const bad = (text: string): AdminActionResult => ({ notice: { kind: 'error', text } });
  const none = bad('Nothing is selected. Select deliveries first.');

  /** Runs the work for each selected delivery in sequence. Returns how often it succeeded, or null without a selection. */
  async function each(request: AdminRequest, work: (id: string) => Promise<boolean>): Promise<number | null> {
    const ids = selected(request);
    let done = 0;
    for (const id of ids) if (await work(id)) done += 1;
    return ids.length === 0 ? null : done;
  }

  return {
    replay: async (request) => {
      const ids = selected(request);
      if (ids.length === 0) return none;
      const { replayed } = await deliveryLog.replay({ deliveries: ids });
      return replayed === 0
        ? info('Nothing was replayed: pending and in-flight deliveries are sent anyway.')
        : good(`${count(replayed)} sent again with the same ids.`);
    },
    retry: async (request) => {
      const done = await each(request, (id) => deliveryLog.retry(id));
      if (done === null) return none;
      return done === 0 ? info('None of these deliveries is failed anymore.') : good(`Retrying ${count(done)}.`);
    },
    clear: async (request) => {
      const done = await each(request, (id) => deliveryLog.clear(id));
      if (done === null) return none;
      return done === 0
        ? info('None of these deliveries is among the recent failures.')
        : good(`${count(done)} removed from the recent failures. The delivery log keeps them for seven days.`);
    },
    'replay-since': async (request) => {
      const wanted = readReplay(request, await host.site.timezone());
      if (typeof wanted === 'string') return bad(wanted);
      const replay = await deliveryLog.replay(wanted);
      if (replay.total === 0) return info('No finished delivery matches. Nothing was sent again.');
      return good(
        replay.state === 'done'
          ? `${count(replay.replayed)} sent again.`
          : `Sending ${count(replay.total)} again, ${formatNumber(wanted.rate)} per second. The replay continues in the background.`,
      );
    },
    'stop-replay': async (request) =>
      (await deliveryLog.stopReplay(readText(request, 'replay')))
        ? good('Replay stopped. Deliveries that are already queued are still sent.')
        : info('This replay has already ended.'),
    resume: async (request) =>
      (await deliveryLog.resume(readText(request, 'endpoint')))
        ? good('Endpoint resumed. Its events are sent now.')
        : info('This endpoint is no longer paused.'),
  };
}

function selected(request: AdminRequest): string[] {
  const ids = request.form['ids'];
  return Array.isArray(ids)
    ? [...new Set(ids.filter((id): id is string => typeof id === 'string' && /^[\w-]{8,64}$/.test(id)))].slice(0, 200)
    : [];
}

/** Reads what to replay. Returns a sentence if the form is invalid. */
function readReplay(request: AdminRequest, timezone: string): (ReplayRequest & { readonly rate: number }) | string {
  const [since, until] = [readText(request, 'since'), readText(request, 'until')];
  const from = readLocalMinute(since, timezone);
  const to = until === '' ? null : readLocalMinute(until, timezone);
  if (from === null) return 'Choose a start time.';
  if (until !== '' && to === null) return 'Enter an end time like 2026-11-21T10:05, or leave it empty.';
  if (to !== null && to < from) return 'The end time must be after the start time.';
  const rate = Number(readText(request, 'rate') || '100');
  if (!Number.isInteger(rate) || rate < 1 || rate > maxRate)
    return `Enter a whole number of deliveries per second from 1 to ${formatNumber(maxRate)}.`;
  const [endpointId, event, state] = [
    readText(request, 'endpoint'),
    readText(request, 'event'),
    readText(request, 'state'),
  ];
  return {
    since: from,
    rate,
    ...(to !== null && { until: to + 59_999 }),
    ...(endpointId !== '' && { endpointId }),
    ...(event !== '' && { event }),
    ...((state === 'delivered' || state === 'failed') && { state }),
  };
}

function count(number: number): string {
  return formatCount(number, 'delivery', 'deliveries');
}
