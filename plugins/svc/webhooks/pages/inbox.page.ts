import { formatCount, type AdminPageBody, withNotice } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import { inboxResponses } from '../inbox/inbox.ts';
import { maxRequests, type InboxRequest } from '../inbox/inbox.ts';
import type { Verdict } from '../inbox/inbox.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { webhookTabs } from './pages-context.ts';
import { prettyJson } from './delivery-view.ts';

const verdictBadges: Readonly<
  Record<Verdict, { readonly text: string; readonly kind: string; readonly help: string }>
> = {
  verified: {
    text: 'Signature verified',
    kind: 'success',
    help: 'The signature matches the raw body, the timestamp and the secret.',
  },
  wrong: { text: 'Wrong signature', kind: 'error', help: 'Signed with another secret, or sent by another sender.' },
  unsigned: {
    text: 'Not signed',
    kind: 'warning',
    help: 'Not signed: no secret is set, or it came from another sender.',
  },
  'no-secret': {
    text: 'Not verified',
    kind: 'warning',
    help: 'It has a signature, but no secret is set to verify it.',
  },
};

/** The page "Inbox": a test receiver on this site. */
export function createPage({ host, webhooks, inbox }: DeliveryPagesContext): AdminPageBody {
  return {
    render: async () => {
      const state = await inbox.state();
      const { enabled } = await webhooks.settings();
      return {
        template: 'svc/webhook-inbox',
        data: {
          tabs: webhookTabs(host, 'svc/deliveries/inbox'),
          inbox: state,
          isOff: !enabled,
          settings: host.admin.url('svc/webhooks'),
          sent: state?.endpoint
            ? `${host.admin.url('svc/deliveries')}?endpoint=${encodeURIComponent(state.endpoint.id)}`
            : null,
          responses: inboxResponses.map((response) => ({ ...response, current: response.id === state?.response })),
          requests: state
            ? (await inbox.list()).map((request) => requestView(request, host.admin.url('svc/deliveries/delivery')))
            : [],
          maxRequests,
        },
      };
    },
    actions: {
      open: async () => {
        const { enabled } = await webhooks.settings();
        await inbox.open();
        if (!enabled) await webhooks.setEnabled(true);
        return withNotice(
          'success',
          `Inbox opened. A new endpoint sends every event to it.${enabled ? '' : ' Event webhooks were turned on.'}`,
        );
      },
      'turn-on': async () => {
        await webhooks.setEnabled(true);
        return withNotice('success', 'Event webhooks turned on.');
      },
      respond: async (request) => {
        const response = readText(request, 'response');
        await inbox.setResponse(response);
        return withNotice('success', `The inbox now responds with: ${responseLabel(response)}.`);
      },
      test: async () => {
        const [sample] = webhooks.catalogue.list();
        if (!sample) return withNotice('error', 'No event is defined.');
        const { error, deliveries } = await webhooks.emit(sample.name, sample.example, {
          key: [`inbox-${String(host.clock.now())}`],
        });
        if (error !== null) return withNotice('error', error);
        if (deliveries.length === 0)
          return withNotice(
            'error',
            'No endpoint received the event. "Delivery check" shows which condition is not met.',
          );
        return withNotice('success', `${sample.name} was sent to ${formatCount(deliveries.length, 'endpoint')}.`);
      },
      clear: async () => {
        const removed = await inbox.clear();
        return withNotice('success', `${formatCount(removed, 'request')} deleted.`);
      },
      close: async () => {
        await inbox.close();
        return withNotice('success', 'Inbox and endpoint deleted.');
      },
      progress: async () => ({ readOnly: true, data: { stamp: String((await inbox.list())[0]?.id ?? '') } }),
    },
  };
}

function requestView(request: InboxRequest, page: string) {
  const { headers, body, verdict, response } = request;
  const delivery = headers['x-svc-delivery-id'];
  return {
    ...request,
    event: headers['x-svc-event'] ?? 'Other request',
    isEvent: headers['x-svc-event'] !== undefined,
    badge: verdictBadges[verdict],
    headerRows: Object.entries(headers).map(([name, value]) => ({ name, value })),
    pretty: prettyJson(body) ?? body,
    deliveryHref: delivery === undefined ? null : `${page}?id=${encodeURIComponent(delivery)}`,
    responseLabel: responseLabel(response),
  };
}

function responseLabel(response: string): string {
  return inboxResponses.find(({ id }) => id === response)?.label ?? response;
}
