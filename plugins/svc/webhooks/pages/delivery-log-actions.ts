import type { AdminActionResult, AdminPage, AdminRequest } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import type { ReplayRequest } from '../delivery.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { readLocalMinute } from './local-time.ts';

const mostRate = 1000;

/** What can be done with deliveries from the list. Each delivery is sent again once, however often a button is pressed. */
export function deliveryLogActions({
  host,
  webhooks: { deliveryLog },
}: DeliveryPagesContext): NonNullable<AdminPage['actions']> {
  const good = (text: string): AdminActionResult => ({ notice: { kind: 'success', text } });
  const info = (text: string): AdminActionResult => ({ notice: { kind: 'info', text } });
  const bad = (text: string): AdminActionResult => ({ notice: { kind: 'error', text } });
  const none = bad('Nothing is selected. Tick the deliveries first.');

  /** For each of the selected, one after the other; answers how many it was true for. */
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
        ? info('Nothing was sent again: deliveries that still wait or are under way go out by themselves.')
        : good(`${count(replayed)} sent again, under the same ids.`);
    },
    retry: async (request) => {
      const done = await each(request, (id) => deliveryLog.retry(id));
      if (done === null) return none;
      return done === 0 ? info('None of these is failed any more.') : good(`${count(done)} tried again.`);
    },
    clear: async (request) => {
      const done = await each(request, (id) => deliveryLog.clear(id));
      if (done === null) return none;
      return done === 0
        ? info('None of these is in the list of failed ones.')
        : good(`${count(done)} cleared from the list of failed ones. They stay in this log for seven days.`);
    },
    'replay-since': async (request) => {
      const wanted = readReplay(request, await host.site.timezone());
      if (typeof wanted === 'string') return bad(wanted);
      const replay = await deliveryLog.replay(wanted);
      if (replay.total === 0) return info('No finished delivery fits: nothing was sent again.');
      return good(
        replay.state === 'done'
          ? `${count(replay.replayed)} sent again.`
          : `Sending ${replay.total.toLocaleString('en-GB')} deliveries again, ${String(wanted.rate)} a second. It goes on by itself, also after a restart.`,
      );
    },
    'stop-replay': async (request) =>
      (await deliveryLog.stopReplay(readText(request, 'replay')))
        ? good('The replay is stopped. What was put into the queue already still goes out.')
        : info('This replay has ended already.'),
    resume: async (request) =>
      (await deliveryLog.resume(readText(request, 'endpoint')))
        ? good('The endpoint is resumed; its events go out now.')
        : info('This endpoint is not paused any more.'),
  };
}

function selected(request: AdminRequest): string[] {
  const ids = request.form['ids'];
  return Array.isArray(ids)
    ? [...new Set(ids.filter((id): id is string => typeof id === 'string' && /^[\w-]{8,64}$/.test(id)))].slice(0, 200)
    : [];
}

/** What to replay, or the sentence that says what is wrong. */
function readReplay(request: AdminRequest, timezone: string): (ReplayRequest & { readonly rate: number }) | string {
  const [since, until] = [readText(request, 'since'), readText(request, 'until')];
  const from = readLocalMinute(since, timezone);
  const to = until === '' ? null : readLocalMinute(until, timezone);
  if (from === null) return 'Choose from when on deliveries are to be sent again.';
  if (until !== '' && to === null) return 'The end cannot be read. Write it like 2026-11-21T10:05, or leave it empty.';
  if (to !== null && to < from) return 'The end is before the beginning.';
  const rate = Number(readText(request, 'rate') || '100');
  if (!Number.isInteger(rate) || rate < 1 || rate > mostRate)
    return `Deliveries a second are a whole number from 1 to ${String(mostRate)}.`;
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
  return number === 1 ? '1 delivery is' : `${number.toLocaleString('en-GB')} deliveries are`;
}
