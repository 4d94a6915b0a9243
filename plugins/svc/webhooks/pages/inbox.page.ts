import type { AdminPageBody } from '#plugin-api';
import { readText } from '../../admin-ui/form-values.ts';
import { inboxResponses } from '../inbox/inbox.ts';
import { maxRequests, type InboxRequest } from '../inbox/inbox.ts';
import type { Verdict } from '../inbox/inbox.ts';
import type { DeliveryPagesContext } from './pages-context.ts';
import { deliveryTabs } from './pages-context.ts';

const verdictBadges: Readonly<
  Record<Verdict, { readonly text: string; readonly kind: string; readonly help: string }>
> = {
  verified: {
    text: 'Signature verified',
    kind: 'success',
    help: 'The signature fits the raw body, the timestamp and the secret.',
  },
  wrong: { text: 'Wrong signature', kind: 'error', help: 'Another secret signed it, or somebody else sent it.' },
  unsigned: { text: 'Not signed', kind: 'warning', help: 'No signing secret is set, or somebody else sent it.' },
  'no-secret': {
    text: 'Not verified',
    kind: 'warning',
    help: 'It carries a signature, but there is no secret to verify it with any more.',
  },
};

/** The page "Inbox": a receiver on the site itself, for first tries. */
export function inboxPage({ host, webhooks, inbox }: DeliveryPagesContext): AdminPageBody {
  return {
    render: async () => {
      const state = await inbox.state();
      const { enabled } = await webhooks.settings();
      return {
        template: 'svc/webhook-inbox',
        data: {
          tabs: deliveryTabs(host, 'svc/deliveries/inbox'),
          inbox: state,
          isOff: !enabled,
          settings: host.admin.url('svc/webhooks'),
          sent: state?.endpoint
            ? `${host.admin.url('svc/deliveries')}?endpoint=${encodeURIComponent(state.endpoint.id)}`
            : null,
          answers: inboxResponses.map((answer) => ({ ...answer, current: answer.id === state?.answer })),
          requests: state
            ? (await inbox.list()).map((request) => requestView(request, host.admin.url('svc/deliveries/delivery')))
            : [],
          maxRequests,
        },
      };
    },
    actions: {
      open: async () => {
        await inbox.open();
        return {
          notice: {
            kind: 'success',
            text: 'The inbox is open, and an endpoint that is subscribed to every event points at it.',
          },
        };
      },
      'switch-on': async () => {
        await webhooks.setEnabled(true);
        return { notice: { kind: 'success', text: 'Event webhooks are on.' } };
      },
      answer: async (request) => {
        const answer = readText(request, 'answer');
        await inbox.setResponse(answer);
        return {
          notice: {
            kind: 'success',
            text: `From now on the inbox answers: ${inboxResponses.find(({ id }) => id === answer)?.label ?? answer}.`,
          },
        };
      },
      test: async () => {
        const [sample] = webhooks.catalogue.list();
        if (!sample) return { notice: { kind: 'error', text: 'There is no event to send.' } };
        const { error, deliveries } = await webhooks.emit(sample.name, sample.example, {
          key: [`inbox-${String(host.clock.now())}`],
        });
        if (error !== null) return { notice: { kind: 'error', text: error } };
        if (deliveries.length === 0)
          return {
            notice: {
              kind: 'error',
              text: 'No endpoint received it. Look under "Why not?" which condition is not met.',
            },
          };
        return {
          notice: {
            kind: 'success',
            text: `${sample.name} is on its way to ${deliveries.length === 1 ? 'one endpoint' : `${String(deliveries.length)} endpoints`}.`,
          },
        };
      },
      clear: async () => {
        const removed = await inbox.clear();
        return {
          notice: {
            kind: 'success',
            text: removed === 1 ? '1 request is removed.' : `${String(removed)} requests are removed.`,
          },
        };
      },
      close: async () => {
        await inbox.close();
        return { notice: { kind: 'success', text: 'The inbox and its endpoint are removed.' } };
      },
      progress: async () => ({ data: { stamp: String((await inbox.list())[0]?.id ?? '') } }),
    },
  };
}

function requestView(request: InboxRequest, page: string) {
  const { headers, body, verdict, answer } = request;
  const delivery = headers['x-svc-delivery-id'];
  return {
    ...request,
    event: headers['x-svc-event'] ?? 'Some request',
    isEvent: headers['x-svc-event'] !== undefined,
    badge: verdictBadges[verdict],
    headerRows: Object.entries(headers).map(([name, value]) => ({ name, value })),
    pretty: prettyJson(body) ?? body,
    deliveryHref: delivery === undefined ? null : `${page}?id=${encodeURIComponent(delivery)}`,
    answerLabel: inboxResponses.find(({ id }) => id === answer)?.label ?? answer,
  };
}

function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
