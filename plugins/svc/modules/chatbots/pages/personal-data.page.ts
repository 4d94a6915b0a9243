import { Readable } from 'node:stream';
import { requireFound, formatCount, restError, type AdminPageBody, withNotice } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { parsePerson, type Person } from '../conversations/personal-data.ts';
import type { Receipt } from '../conversations/receipts.ts';

const identifierKinds = [
  { value: 'email', label: 'Email address' },
  { value: 'user', label: 'User id' },
  { value: 'session', label: 'Session id of a guest' },
] as const;

const receiptsShown = 20;
const sentShown = 20;

/** The page "Personal data": finds, exports and deletes the data of one person, and lists the receipts. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async ({ query }) => ({ template: 'svc/personal-data', data: await personalDataView(parts, query) }),
    actions: {
      export: async ({ form, user }) => {
        const data = await parts.personalData();
        return {
          download: {
            name: 'personal-data.jsonl',
            type: 'application/jsonl; charset=utf-8',
            content: data.export(readPerson(form), user.login),
          },
        };
      },
      receipt: async ({ form }) => {
        const receipt = await (await parts.personalData()).receipt(String(form['id']));
        if (receipt?.document == null)
          throw restError(
            404,
            'rest_svc_receipt_not_found',
            'Receipt not found. Receipts of earlier versions are not signed and cannot be downloaded.',
          );
        return {
          download: {
            name: `receipt-${receipt.id}.json`,
            type: 'application/json',
            content: Readable.from([`${receipt.document}\n`]),
          },
        };
      },
      erase: async ({ form, user }) => {
        const { id, counts } = await (await parts.personalData()).erase(readPerson(form), user.login);
        return withNotice('success', `Deleted: ${formatCounts(counts)}. Receipt ${id}.`, {
          redirect: 'svc/personal-data',
          data: { id, counts },
        });
      },
    },
  };
}

function readPerson(form: Readonly<Record<string, unknown>>): Person {
  return requireFound(parsePerson(form['by'], form['value']), {
    code: 'rest_invalid_param',
    status: 400,
    message: 'Enter an email address, a user id or a session id.',
  });
}

async function personalDataView(
  parts: ChatbotParts,
  query: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const data = await parts.personalData();
  const by = identifierKinds.find(({ value }) => value === query['by'])?.value ?? 'email';
  const value = typeof query['value'] === 'string' ? query['value'].trim().slice(0, 254) : '';
  const person = parsePerson(by, value);
  const counts = person === null ? null : await data.count(person);
  const receipts = await data.receipts(receiptsShown);
  return {
    kinds: identifierKinds,
    by,
    value,
    error:
      value !== '' && person === null
        ? `Enter a valid ${(identifierKinds.find((kind) => kind.value === by)?.label ?? '').toLowerCase()}.`
        : '',
    fields: { by, value },
    found:
      counts === null
        ? null
        : { text: formatCounts(counts), isEmpty: Object.values(counts).every((count) => count === 0) },
    receipts: receipts.map((receipt) => ({
      ...receipt,
      title: receiptTitle(receipt),
      text: formatCounts(receipt.counts),
      notes: receiptNotes(receipt),
      sent: receipt.lists.deliveries.slice(0, sentShown).map((sent) => ({ ...sent, time: Date.parse(sent.time) })),
      moreSent: Math.max(0, receipt.lists.deliveries.length - sentShown),
      isSigned: receipt.document !== null,
      fields: { id: receipt.id },
    })),
  };
}

function receiptTitle({ act, by }: Receipt): string {
  return `${act === 'erase' ? 'Deleted' : 'Exported'} by ${by === 'email' ? 'email address' : `${by} id`}`;
}

/** What an administrator has to know or do besides the counts. */
function receiptNotes({ lists: { media, vectors, deliveries } }: Receipt): readonly string[] {
  return [
    ...(media.length > 0 ? [`${formatCount(media.length, 'media file')} deleted.`] : []),
    ...(vectors.length > 0
      ? [`${formatCount(vectors.length, 'knowledge source')} answer questions of the person: check their texts.`]
      : []),
    ...(deliveries.length > 0
      ? [
          `${formatCount(deliveries.length, 'webhook delivery', 'webhook deliveries')} sent before: ask the receivers to delete the data.`,
        ]
      : []),
  ];
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => formatCount(count, ...countLabels(name)))
    .join(', ');
}

/** Singular and plural of a count such as `webhook_events` or `cancelled_deliveries`. */
function countLabels(name: string): [string, string] {
  const plural = name.replaceAll('_', ' ');
  return [plural.replace(/ies$/, 'y').replace(/s$/, ''), plural];
}
