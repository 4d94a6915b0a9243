import { csvLine, csvMark } from '../../kit/csv.ts';
import type { Delivery, DeliveryFilter } from '../delivery.ts';
import type { Recorder } from '../webhooks.ts';

const moment = (time: number | null): string => (time === null ? '' : new Date(time).toISOString());

const columns: readonly (readonly [string, (delivery: Delivery) => string | number])[] = [
  ['created_at', ({ createdAt }) => moment(createdAt)],
  ['finished_at', ({ finishedAt }) => moment(finishedAt)],
  ['delivery_id', ({ id }) => id],
  ['event_id', ({ eventId }) => eventId],
  ['event', ({ event }) => event],
  ['endpoint_id', ({ endpointId }) => endpointId],
  ['endpoint', ({ endpointName }) => endpointName],
  ['state', ({ state }) => state],
  ['attempts', ({ attempts }) => attempts],
  ['http_status', ({ httpStatus }) => httpStatus ?? ''],
  ['duration_ms', ({ duration }) => duration ?? ''],
  ['failure', ({ failure }) => failure ?? ''],
  ['error', ({ error }) => error ?? ''],
];

/** Deliveries as CSV (RFC 4180, UTF-8 with a mark), newest first, read in steps. */
export async function* deliveriesCsv(recorder: Pick<Recorder, 'list'>, filter: DeliveryFilter): AsyncGenerator<string> {
  yield csvMark + csvLine(columns.map(([name]) => name));
  for (let before: string | null | undefined; before !== null;) {
    const page = await recorder.list(filter, { limit: 200, ...(before !== undefined && { before }) });
    yield page.deliveries.map((delivery) => csvLine(columns.map(([, read]) => read(delivery)))).join('');
    before = page.next;
  }
}
