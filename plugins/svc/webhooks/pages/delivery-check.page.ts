import {
  formatCount,
  requireFound,
  type AdminActionResult,
  type AdminPageBody,
  type AdminRequest,
  withNotice,
} from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import type { Condition } from '../delivery.ts';
import type { Endpoint } from '../endpoint.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { webhookTabs } from './pages-context.ts';
import { endpointName, endpointOptions, eventOptions } from './delivery-log-view.ts';

/** Filters may stop an event, but do not have to. */
const uncertain: ReadonlySet<Condition['id']> = new Set(['content', 'envelope_filter', 'targets_filter']);

/** The page "Delivery check": which conditions an event currently meets for an endpoint (contract 6.1). */
export function createPage(context: DeliveryPagesContext): AdminPageBody {
  const { host, webhooks } = context;
  return {
    render: async ({ query }) => {
      const settings = await webhooks.settings();
      const [first] = settings.endpoints;
      const event = typeof query['event'] === 'string' ? query['event'] : '';
      const endpoint =
        typeof query['endpoint'] === 'string' && query['endpoint'] !== '' ? query['endpoint'] : (first?.id ?? '');
      return {
        template: 'svc/webhook-delivery-check',
        data: {
          tabs: webhookTabs(host, 'svc/deliveries/check'),
          event,
          endpoint,
          pair: { event, endpoint },
          hasEndpoints: first !== undefined,
          inbox: host.admin.url('svc/deliveries/inbox'),
          events: eventOptions(context, 'Choose an event').filter(({ value }) => value !== '' || event === ''),
          endpoints: endpointOptions(settings, '').slice(1),
          result:
            event === '' || endpoint === ''
              ? null
              : checkResult(await webhooks.deliveryLog.checkEligibility(event, endpoint), {
                  event,
                  endpoint: endpointName(settings, endpoint),
                }),
          sent: `${host.admin.url('svc/deliveries')}?event=${encodeURIComponent(event)}&endpoint=${encodeURIComponent(endpoint)}`,
          settings: host.admin.url('svc/webhooks'),
        },
      };
    },
    actions: {
      'turn-on': async (request) => {
        await webhooks.setEnabled(true);
        return fixed(request, 'Event webhooks turned on.');
      },
      'enable-endpoint': async (request) => {
        const { id } = await findEndpoint(context, request);
        await webhooks.updateEndpoint(id, { enabled: true });
        return fixed(request, 'Endpoint turned on.');
      },
      subscribe: async (request) => {
        const { id, name, events } = await findEndpoint(context, request);
        const event = readText(request, 'event');
        await webhooks.updateEndpoint(id, { events: [...new Set([...events, event])] });
        return fixed(request, `${name} is subscribed to ${event}.`);
      },
    },
  };
}

/** Back to the check of the same event and endpoint. */
function fixed(request: AdminRequest, text: string): AdminActionResult {
  const query = new URLSearchParams({ event: readText(request, 'event'), endpoint: readText(request, 'endpoint') });
  return withNotice('success', text, { redirect: `svc/deliveries/check?${query.toString()}` });
}

async function findEndpoint({ webhooks }: DeliveryPagesContext, request: AdminRequest): Promise<Endpoint> {
  const { endpoints } = await webhooks.settings();
  return requireFound(endpoints.find(({ id }) => id === readText(request, 'endpoint')) ?? null, {
    code: 'rest_svc_endpoint_not_found',
    status: 404,
    message: 'This endpoint does not exist. It may have been deleted.',
  });
}

/** What fixes an unmet condition with one click. */
const fixes: Partial<Readonly<Record<Condition['id'], { readonly action: string; readonly label: string }>>> = {
  switch: { action: 'turn-on', label: 'Turn webhooks on' },
  enabled: { action: 'enable-endpoint', label: 'Turn the endpoint on' },
  subscribed: { action: 'subscribe', label: 'Subscribe now' },
};

function checkResult(
  conditions: readonly Condition[],
  { event, endpoint }: { readonly event: string; readonly endpoint: string },
) {
  const unmet = conditions.filter(({ met, id }) => !met && !uncertain.has(id));
  const unsure = conditions.filter(({ met, id }) => !met && uncertain.has(id));
  const verdict =
    unmet.length > 0
      ? {
          kind: 'error',
          text: `${event} is not sent to ${endpoint}: ${formatCount(unmet.length, 'condition')} not met.`,
        }
      : unsure.length > 0
        ? { kind: 'warning', text: `${event} is sent to ${endpoint} unless a plugin's filter stops it.` }
        : { kind: 'success', text: `${event} is sent to ${endpoint}: all conditions are met.` };
  return {
    verdict,
    conditions: conditions.map((condition) => ({
      ...condition,
      ...conditionBadge(condition),
      fix: condition.met ? null : fixes[condition.id],
    })),
  };
}

function conditionBadge({ met, id }: Condition): {
  readonly kind: 'success' | 'warning' | 'error';
  readonly state: string;
} {
  if (met) return { kind: 'success', state: 'Yes' };
  return uncertain.has(id) ? { kind: 'warning', state: 'Unknown' } : { kind: 'error', state: 'No' };
}
