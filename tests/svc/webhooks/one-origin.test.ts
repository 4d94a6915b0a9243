import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { createOutbound, type Outbound } from '../../../host/http/outbound.ts';
import type { WebhookService } from '../../../plugins/svc/webhooks/create-webhooks.ts';
import { createDeliver } from '../../../plugins/svc/webhooks/delivery/deliver.ts';
import { until } from '../../helpers/until.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import { openWebhooks, queued } from './open-webhooks.ts';

const endpoints = 20;
const hanging = 10;
/** Events that raise the number of concurrent attempts of each endpoint. */
const warmup = 40;
/** Events that occupy every attempt that the hanging endpoints may make. */
const backlog = 60;
const later = 20;
/** Attempts of one process that quick endpoints share. */
const shared = 64;

describeDialects('twenty endpoints of one origin', (open) => {
  let server: Server;
  let outbound: Outbound;
  let webhooks: WebhookService;
  let isHanging: boolean;
  let hangingRequests: number;
  /** Responses by path. */
  let responses: Map<string, number>;

  beforeEach(async () => {
    isHanging = false;
    hangingRequests = 0;
    responses = new Map();
    server = createServer((request, response) => {
      request.resume();
      const path = request.url ?? '';
      if (isHanging && path.startsWith('/hangs')) return void (hangingRequests += 1);
      responses.set(path, (responses.get(path) ?? 0) + 1);
      response.end('ok');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const clock = createSystemClock();
    outbound = createOutbound({ clock });
    const opened = await openWebhooks(await open(), createDeliver({ http: outbound, clock }));
    ({ webhooks } = opened);
    // No attempt times out during the test: a delivery that waits for a hanging one waits until the test fails.
    opened.hooks.addFilter('svc_event_webhooks_request_args', (args) => ({ ...args, timeout: 600 }));
    const origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    for (let index = 0; index < endpoints; index += 1)
      await webhooks.addEndpoint({
        name: String(index),
        url: `${origin}/${index < hanging ? 'hangs' : 'responds'}${String(index)}`,
        events: ['chatbot.session_started'],
      });
    await webhooks.setEnabled(true);
  });
  afterEach(async () => {
    server.close();
    server.closeAllConnections();
    await outbound.close();
    await webhooks.stop();
  });

  const emit = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await webhooks.emit('chatbot.session_started', queued(index));
  };
  const responded = (prefix: string): number =>
    [...responses].reduce((sum, [path, count]) => sum + (path.startsWith(prefix) ? count : 0), 0);

  it('do not wait for each other when ten of them begin to hang', async () => {
    await webhooks.start();
    await emit(warmup);
    await until('all have responded', () => responded('/') === endpoints * warmup);
    isHanging = true;
    await emit(backlog);
    await until('all shared attempts hang', () => hangingRequests >= shared);
    await emit(later);
    const wanted = (endpoints - hanging) * (warmup + backlog + later);
    await until('the healthy endpoints have responded', () => responded('/responds') === wanted);
    expect(responded('/hangs')).to.equal(hanging * warmup);
    expect(hangingRequests).to.be.at.least(shared);
  });
});
