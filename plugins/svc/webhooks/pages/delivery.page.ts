import { requireFound, withNotice, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import { errors } from '../../kit/errors.ts';
import { readText } from '../../admin-ui/form-values.ts';
import type { DeliveryDetail } from '../delivery.ts';
import { deliveryView } from './delivery-view.ts';
import { verifySecret } from './delivery-verify.ts';
import type { DeliveryPagesContext } from './pages-context.ts';

const template = 'svc/webhook-delivery';

/** The page "Delivery": body, headers and attempts of one delivery, and its actions. */
export function createPage(context: DeliveryPagesContext): AdminPageBody {
  const {
    webhooks: { deliveryLog },
  } = context;

  async function find(id: unknown): Promise<DeliveryDetail> {
    return requireFound(typeof id === 'string' && id !== '' ? await deliveryLog.get(id) : null, {
      code: 'rest_svc_delivery_not_found',
      message: 'Delivery not found. Delivered events are stored for three days by default, failed ones for seven.',
      status: 404,
    });
  }

  const done = (request: AdminRequest, isDone: boolean, [text, otherwise]: [string, string]): AdminActionResult =>
    withNotice(isDone ? 'success' : 'info', isDone ? text : otherwise, {
      redirect: `svc/deliveries/delivery?id=${encodeURIComponent(readText(request, 'id'))}`,
    });

  return {
    render: async (request) => {
      const delivery = await find(request.query['id']);
      return {
        template,
        title: delivery.event,
        data: await deliveryView(context, delivery, { raw: request.query['view'] === 'raw' }),
      };
    },
    actions: {
      replay: async (request) => {
        const { replayed, withoutBody } = await deliveryLog.replay({ deliveries: [readText(request, 'id')] });
        if (withoutBody > 0) throw errors.delivery_body_deleted();
        return done(request, replayed > 0, [
          'Sent again with the same ids and body and a new timestamp.',
          'Already pending or in flight.',
        ]);
      },
      retry: async (request) =>
        done(request, await deliveryLog.retry(readText(request, 'id')), [
          'Retry started.',
          'This delivery is no longer failed.',
        ]),
      clear: async (request) =>
        done(request, await deliveryLog.clear(readText(request, 'id')), [
          'Removed from the recent failures.',
          'Already removed from the recent failures.',
        ]),
      // For browsers without the script of the page. The secret appears in no response, log or table.
      verify: async (request) => {
        const delivery = await find(readText(request, 'id'));
        const attempt =
          delivery.attemptLog.find(({ number }) => String(number) === readText(request, 'attempt')) ??
          delivery.attemptLog.at(-1);
        const verified = verifySecret(readText(request, 'secret'), {
          signature: attempt?.requestHeaders['X-SVC-Signature'] ?? '',
          timestamp: attempt?.timestamp ?? '',
          body: delivery.body,
        });
        const notice = { kind: verified.match ? 'success' : 'error', text: verified.text } as const;
        return {
          notice,
          page: { template, data: await deliveryView(context, delivery, { raw: false }) },
          data: { match: verified.match },
          status: 200,
        };
      },
    },
  };
}
