import { RestError, type AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { parsePerson, type Person, type Receipt } from '../conversations/personal-data.ts';

const identifierKinds = [
  { value: 'email', label: 'E-mail address' },
  { value: 'user', label: 'User id' },
  { value: 'session', label: 'Session id of a guest' },
] as const;

const shownReceipts = 20;

/** The page "Personal data": what there is of one person, its export and its deletion, with receipts. */
export function personalDataPage(parts: ChatbotParts): AdminPageBody {
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
      erase: async ({ form, user }) => {
        const { id, counts } = await (await parts.personalData()).erase(readPerson(form), user.login);
        return {
          notice: { kind: 'success', text: `Deleted: ${formatCounts(counts)}. Receipt ${id}.` },
          redirect: 'svc/personal-data',
          data: { id, counts },
        };
      },
    },
  };
}

function readPerson(form: Readonly<Record<string, unknown>>): Person {
  const person = parsePerson(form['by'], form['value']);
  if (person === null)
    throw new RestError({
      code: 'rest_invalid_param',
      status: 400,
      message: 'Name the person by an e-mail address, the id of a user, or the id of a session.',
    });
  return person;
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
  const receipts = await data.receipts(shownReceipts);
  return {
    identifierKinds,
    by,
    value,
    error:
      value !== '' && person === null
        ? `This is no ${(identifierKinds.find((way) => way.value === by)?.label ?? '').toLowerCase()}.`
        : '',
    fields: { by, value },
    found:
      counts === null
        ? null
        : { text: formatCounts(counts), isNothing: Object.values(counts).every((count) => count === 0) },
    receipts: receipts.map((receipt) => ({
      ...receipt,
      title: receiptTitle(receipt),
      text: formatCounts(receipt.counts),
    })),
  };
}

function receiptTitle({ act, by }: Receipt): string {
  return `${act === 'erase' ? 'Deleted' : 'Exported'}, named by ${by === 'email' ? 'e-mail address' : by}`;
}

function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count.toLocaleString('en-GB')} ${count === 1 ? name.replace(/s$/, '') : name}`)
    .join(', ');
}
