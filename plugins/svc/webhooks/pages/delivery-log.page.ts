import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { deliveryLogActions } from './delivery-log-actions.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { readDeliveryLogQuery, toDeliveryFilter } from './delivery-log-filter.ts';
import { queueProgress, deliveryLogView } from './delivery-log-view.ts';
import { csvLine, byteOrderMark } from '../../kit/csv.ts';
import type { Delivery, DeliveryFilter } from '../delivery.ts';
import type { DeliveryLog } from '../webhooks.ts';

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

/** Deliveries as CSV (RFC 4180, UTF-8 with a byte order mark), newest first, read page by page. */
async function* deliveriesCsv(deliveryLog: Pick<DeliveryLog, 'list'>, filter: DeliveryFilter): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(columns.map(([name]) => name));
  for (let before: string | null | undefined; before !== null;) {
    const page = await deliveryLog.list(filter, { limit: 200, ...(before !== undefined && { before }) });
    yield page.deliveries.map((delivery) => csvLine(columns.map(([, read]) => read(delivery)))).join('');
    before = page.next;
  }
}

/** The page "Deliveries": all deliveries, newest first, the queue, and replays. */
export function createPage(context: DeliveryPagesContext): AdminPageBody {
  const { host, webhooks } = context;
  return {
    render: async (request) => ({
      template: 'svc/webhook-deliveries',
      data: await deliveryLogView(context, request.query),
    }),
    actions: {
      ...deliveryLogActions(context),
      progress: async (request): Promise<AdminActionResult> => {
        const timezone = await host.site.timezone();
        return {
          readOnly: true,
          data: await queueProgress(context, { query: readDeliveryLogQuery(request.form, timezone), timezone }),
        };
      },
      export: (request: AdminRequest) => exported(request),
    },
  };

  async function exported(request: AdminRequest): Promise<AdminActionResult> {
    const timezone = await host.site.timezone();
    const filter = toDeliveryFilter(readDeliveryLogQuery(request.form, timezone), timezone);
    return {
      download: {
        name: 'webhook-deliveries.csv',
        type: 'text/csv; charset=utf-8; header=present',
        content: deliveriesCsv(webhooks.deliveryLog, filter),
      },
    };
  }
}
