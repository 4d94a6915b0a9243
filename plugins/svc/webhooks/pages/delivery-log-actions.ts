import {
  formatCount,
  formatNumber,
  momentOf,
  withNotice,
  type AdminActionResult,
  type AdminPage,
  type AdminRequest,
} from '#plugin-api';
import { errors } from '../../kit/errors.ts';
import { readText } from '../../admin-ui/form-values.ts';
import type { ReplayRequest } from '../delivery.ts';
import type { DeliveryPagesContext } from './pages-context.ts';

const maxRate = 1000;

/** Actions of the page "Deliveries". Repeated clicks replay or retry a delivery only once. */
export function deliveryLogActions({
  host,
  webhooks: { deliveryLog },
}: DeliveryPagesContext): NonNullable<AdminPage['actions']> {
  const good = (text: string): AdminActionResult => withNotice('success', text);
  const info = (text: string): AdminActionResult => withNotice('info', text);
  const bad = (text: string): AdminActionResult => withNotice('error', text);
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
      const { replayed, withoutBody } = await deliveryLog.replay({ deliveries: ids });
      if (replayed > 0) return good(`${count(replayed)} sent again with the same ids.${skippedText(withoutBody)}`);
      return withoutBody > 0
        ? bad(`Nothing was sent again.${skippedText(withoutBody)}`)
        : info('Nothing was replayed: pending and in-flight deliveries are sent anyway.');
    },
    retry: async (request) => {
      let withoutBody = 0;
      const done = await each(request, (id) =>
        deliveryLog.retry(id).catch((error: unknown) => {
          if ((error as { readonly code?: unknown }).code !== errors.delivery_body_deleted().code) throw error;
          withoutBody += 1;
          return false;
        }),
      );
      if (done === null) return none;
      if (withoutBody > 0)
        return (done > 0 ? info : bad)(
          `${done > 0 ? `Retrying ${count(done)}.` : 'Nothing was sent again.'}${skippedText(withoutBody)}`,
        );
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
      const skipped = skippedText(replay.withoutBody);
      if (replay.total === 0)
        return skipped === ''
          ? info('No finished delivery matches. Nothing was sent again.')
          : bad(`Nothing was sent again.${skipped}`);
      const text =
        replay.state === 'done'
          ? `${count(replay.replayed)} sent again.`
          : `Sending ${count(replay.total)} again, ${formatNumber(wanted.rate)} per second. The replay continues in the background.`;
      return good(`${text}${skipped}`);
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

/** Sentence about deliveries that cannot be replayed, after a space; empty if there are none. */
export function skippedText(withoutBody: number): string {
  if (withoutBody === 0) return '';
  return ` ${count(withoutBody)} cannot be sent again: the body was deleted for privacy.`;
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
  const from = momentOf(since, timezone);
  const to = until === '' ? null : momentOf(until, timezone);
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
