import { invalidFields } from '#plugin-api';
import { expect } from 'chai';
import type { EndpointInput } from '../../../../plugins/svc/webhooks/endpoint.ts';
import { isInternal, saveEndpoint } from '../../../../plugins/svc/webhooks/pages/endpoint-save.ts';
import type { WebhookPagesContext } from '../../../../plugins/svc/webhooks/pages/pages-context.ts';
import { createSystemClock } from '../../../../host/clock.ts';
import { createOutbound } from '../../../../host/http/outbound.ts';
import { failureOf } from '../../../helpers/failure-of.ts';

const answers: Readonly<Record<string, readonly string[]>> = {
  'shop.example.com': ['93.184.216.34'],
  'inside.example.com': ['10.0.0.7'],
  'mixed.example.com': ['93.184.216.34', '192.168.0.9'],
  'cloud.example.com': ['169.254.169.254'],
};

/** The real guard, with a DNS of its own. */
function createContext() {
  const http = createOutbound({
    clock: createSystemClock(),
    resolve: async (name: string) => answers[name] ?? Promise.reject(new Error('ENOTFOUND')),
  });
  const saved: EndpointInput[] = [];
  const keep = async (input: EndpointInput) => {
    saved.push(input);
    return { events: ['form.submitted'], ...input, internal: input.internal ?? false };
  };
  const webhooks = {
    settings: async () => ({ endpoints: [{ id: 'one', url: 'https://inside.example.com/', internal: true }] }),
    addEndpoint: keep,
    updateEndpoint: async (_id: string, input: EndpointInput) => keep({ url: 'https://inside.example.com/', ...input }),
  };
  return { context: { host: { http }, webhooks } as unknown as WebhookPagesContext, saved };
}

const errorOf = async (input: EndpointInput): Promise<string> => {
  const { context, saved } = createContext();
  const error = (await failureOf(saveEndpoint(context, input))) as ReturnType<typeof invalidFields>;
  expect(saved).to.deep.equal([]);
  expect(error).to.include({ code: 'rest_invalid_param', status: 400 });
  return (error.data as { params: { url: string } }).params.url;
};
const warningOf = async (input: EndpointInput): Promise<string | null> =>
  (await saveEndpoint(createContext().context, input)).warning;

describe('saving an endpoint', () => {
  it('says when no event is chosen', async () => {
    expect(await warningOf({ name: 'A', url: 'https://93.184.215.14/', events: [] })).to.contain(
      'until you choose an event',
    );
    expect(await warningOf({ name: 'A', url: 'https://93.184.215.14/' })).to.equal(null);
  });

  it('refuses a name that resolves to a private address, and mentions the option', async () => {
    for (const name of ['inside', 'mixed']) {
      const sentence = await errorOf({ name: 'A', url: `https://${name}.example.com/` });
      expect(sentence).to.match(
        new RegExp(`^${name}\\.example\\.com resolves to 1[09][.\\d]+, which .*turn on “Allow private addresses”`),
      );
    }
    expect(await warningOf({ name: 'A', url: 'https://inside.example.com/', internal: true })).to.equal(null);
  });

  it('refuses cloud metadata with and without the box, and does not send anybody to it', async () => {
    expect(await errorOf({ name: 'A', url: 'https://cloud.example.com/' })).to.not.contain('Allow private addresses');
    expect(await errorOf({ name: 'A', url: 'https://cloud.example.com/', internal: true })).to.match(/metadata/i);
  });

  it('asks again when the box is taken away from an address that needs it, and not when neither changes', async () => {
    expect(await errorOf({ id: 'one', internal: false })).to.contain('10.0.0.7');
    expect(await warningOf({ id: 'one', name: 'B' })).to.equal(null);
  });

  it('warns of a name that is not known yet, and of plain http to the outside', async () => {
    expect(await warningOf({ name: 'A', url: 'https://new.example.com/' })).to.equal(
      'The name new.example.com cannot be resolved. Nothing can be delivered until then.',
    );
    expect(await warningOf({ name: 'A', url: 'http://shop.example.com/' })).to.contain('events are sent unencrypted');
    expect(await warningOf({ name: 'A', url: 'https://shop.example.com/' })).to.equal(null);
    expect(await warningOf({ name: 'A', url: 'http://127.0.0.1:9/' })).to.equal(null);
  });

  it('marks as internal what is so by its own words', async () => {
    const { http } = createContext().context.host;
    const marked = await Promise.all(
      [
        'http://127.0.0.1/',
        'http://localhost:9/',
        'http://[::1]/',
        'http://93.184.216.34/',
        'https://inside.example.com/',
        '',
      ].map((url) => isInternal(http, { url, internal: false })),
    );
    expect(marked).to.deep.equal([true, true, true, false, false, false]);
    expect(await isInternal(http, { url: 'https://inside.example.com/', internal: true })).to.equal(true);
  });
});
