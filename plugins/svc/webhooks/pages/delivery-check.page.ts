import { formatCount, type AdminPageBody } from '#plugin-api';
import type { Condition } from '../delivery.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { deliveryTabs } from './pages-context.ts';
import { endpointName, endpointOptions, eventOptions } from './delivery-log-view.ts';

/** Filters of plugins may stop an event, but do not have to. */
const uncertain: ReadonlySet<Condition['id']> = new Set(['envelope_filter', 'targets_filter']);

/** The page "Delivery check": which conditions an event currently meets for an endpoint (contract 6.1). */
export function deliveryCheckPage(context: DeliveryPagesContext): AdminPageBody {
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
          tabs: deliveryTabs(host, 'svc/deliveries/check'),
          event,
          endpoint,
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
  };
}

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
    conditions: conditions.map((condition) => ({ ...condition, ...conditionBadge(condition) })),
  };
}

function conditionBadge({ met, id }: Condition): {
  readonly kind: 'success' | 'warning' | 'error';
  readonly state: string;
} {
  if (met) return { kind: 'success', state: 'Yes' };
  return uncertain.has(id) ? { kind: 'warning', state: 'Unknown' } : { kind: 'error', state: 'No' };
}
