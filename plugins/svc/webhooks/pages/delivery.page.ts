import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import type { DeliveryDetail } from '../delivery.ts';
import { deliveryView } from './delivery-view.ts';
import { verifySecret } from './delivery-verify.ts';
import type { DeliveryPagesContext } from './pages-context.ts';

const template = 'svc/webhook-delivery';

/** One delivery: its exact bytes and headers, every attempt, and what can be done with it. */
export function deliveryPage(context: DeliveryPagesContext): AdminPageBody {
  const {
    webhooks: { deliveryLog },
  } = context;

  async function find(id: unknown): Promise<DeliveryDetail> {
    const found = typeof id === 'string' && id !== '' ? await deliveryLog.get(id) : null;
    if (!found)
      throw new RestError({
        code: 'rest_svc_delivery_not_found',
        message:
          'There is no such delivery. Delivered ones are kept for three days unless set otherwise, failed ones for seven.',
        status: 404,
      });
    return found;
  }

  const done = (request: AdminRequest, notice: NonNullable<AdminActionResult['notice']>): AdminActionResult => ({
    notice,
    redirect: `svc/deliveries/delivery?id=${encodeURIComponent(readText(request, 'id'))}`,
  });

  return {
    render: async (request) => ({
      template,
      data: await deliveryView(context, await find(request.query['id']), { raw: request.query['view'] === 'raw' }),
    }),
    actions: {
      replay: async (request) => {
        const { replayed } = await deliveryLog.replay({ deliveries: [readText(request, 'id')] });
        return done(
          request,
          replayed > 0
            ? { kind: 'success', text: 'It is sent again, with the same ids and bytes and a new timestamp.' }
            : { kind: 'info', text: 'It waits or is under way already.' },
        );
      },
      retry: async (request) =>
        done(
          request,
          (await deliveryLog.retry(readText(request, 'id')))
            ? { kind: 'success', text: 'It is tried again.' }
            : { kind: 'info', text: 'It is not failed any more.' },
        ),
      clear: async (request) =>
        done(
          request,
          (await deliveryLog.clear(readText(request, 'id')))
            ? { kind: 'success', text: 'It is cleared from the list of failed ones.' }
            : { kind: 'info', text: 'It is not in the list of failed ones any more.' },
        ),
      // For browsers without the page's script. The secret is compared and forgotten: it is in no answer, log or table.
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
