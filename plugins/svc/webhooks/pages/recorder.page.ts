import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import { recorderActions } from './recorder-actions.ts';
import type { RecorderContext } from './recorder-context.ts';
import { deliveriesCsv } from './recorder-csv.ts';
import { readRecorderQuery, toDeliveryFilter } from './recorder-filter.ts';
import { recorderLive, recorderView } from './recorder-view.ts';

/** The page "Deliveries": every delivery, newest first, the queue at work, and sending again. */
export function recorderPage(context: RecorderContext): AdminPageBody {
  const { host, webhooks } = context;
  return {
    render: async (request) => ({ template: 'svc/webhook-recorder', data: await recorderView(context, request.query) }),
    actions: {
      ...recorderActions(context),
      progress: async (request): Promise<AdminActionResult> => {
        const timezone = await host.site.timezone();
        return { data: await recorderLive(context, { query: readRecorderQuery(request.form, timezone), timezone }) };
      },
      export: (request: AdminRequest) => exported(request),
    },
  };

  async function exported(request: AdminRequest): Promise<AdminActionResult> {
    const timezone = await host.site.timezone();
    const filter = toDeliveryFilter(readRecorderQuery(request.form, timezone), timezone);
    return {
      download: {
        name: 'webhook-deliveries.csv',
        type: 'text/csv; charset=utf-8; header=present',
        content: deliveriesCsv(webhooks.recorder, filter),
      },
    };
  }
}
