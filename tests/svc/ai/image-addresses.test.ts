import { expect } from 'chai';
import type { HttpApi, RestError } from '#plugin-api';
import { createImageAddresses } from '../../../plugins/svc/ai/image-addresses.ts';
import { readMessages } from '../../../plugins/svc/modules/openai/chat/read-messages.ts';
import { failureOf as rejectionOf } from '../../helpers/failure-of.ts';
import { until } from '../../helpers/until.ts';
import { openOutbound, openReceiver, type Receiver } from '../webhooks/delivery/open-receiver.ts';

const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const failureOf = async (run: () => unknown): Promise<string> =>
  JSON.stringify(((await rejectionOf(Promise.resolve().then(run))) as RestError).data);

describe('images that a request names by address', () => {
  let receiver: Receiver;
  let http: Pick<HttpApi, 'fetch'>;
  beforeEach(async () => {
    receiver = await openReceiver();
    const outbound = openOutbound({});
    http = { fetch: (url, init) => outbound.fetch(url, { ...init, allowInternal: true }) };
  });
  afterEach(() => receiver.close());

  const address = (path: string | number): string => `http://127.0.0.1:${String(receiver.port)}/${String(path)}`;
  const messageOf = (urls: readonly string[]) => [
    { role: 'user', content: urls.map((url) => ({ type: 'image_url', image_url: { url } })) },
  ];
  const open = (urls: readonly string[]) => {
    const addresses = createImageAddresses(http);
    const messages = readMessages(messageOf(urls), addresses) as never;
    return { messages, load: (signal?: AbortSignal) => addresses.load(messages, signal) };
  };
  const many = (count: number): string[] => Array.from({ length: count }, (_, index) => address(index));

  it('are 20 at most, and are not fetched while they are read', async () => {
    expect(await failureOf(() => open(many(21)))).to.include(
      'is one address too many: a request may name 20 images by address.',
    );
    open([...many(20), ...many(20)]);
    expect(receiver.connections()).to.equal(0);
  });

  it('are fetched four at a time, each address once', async () => {
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    receiver.answer = (_request, response) => {
      running += 1;
      most = Math.max(most, running);
      waiting.push(() => {
        running -= 1;
        response.writeHead(200).end(gif);
      });
    };
    const { load } = open([...many(20), ...many(20)]);
    const loading = load();
    for (let answered = 0; answered < 20; answered += 1) {
      await until('a fetch', () => waiting.length > 0);
      waiting.shift()?.();
    }
    const [message] = await loading;
    expect(message?.images?.map(({ mimeType, bytes }) => [mimeType, bytes.length])).to.deep.equal(
      Array<unknown>(40).fill(['image/gif', gif.length]),
    );
    expect([receiver.received.length, most]).to.deep.equal([20, 4]);
    await load();
    expect(receiver.received.length).to.equal(20);
  });

  it('end at the first one that fails', async () => {
    receiver.answer = (_request, response) => void response.writeHead(404).end();
    expect(await failureOf(() => open(many(20)).load())).to.include('the server returned 404');
    expect(receiver.received.length).to.be.at.most(4);
  });

  it('have 20 MB together', async () => {
    const sizes = [12, 8].map((megabytes) => megabytes * 1_048_576);
    let above = 0;
    receiver.answer = (request, response) => {
      const size = (sizes[Number(request.url?.slice(1))] ?? 0) + above;
      response.writeHead(200).end(Buffer.concat([gif, Buffer.alloc(size - gif.length)]));
    };
    expect(await open(many(2)).load()).to.have.lengthOf(1);
    above = 1;
    expect(await failureOf(() => open(many(2)).load()))
      .to.match(/messages\[0\]\.content\[[01]\]\.image_url\.url/)
      .and.include('images by address may have 20971520 bytes in all');
  });
});
