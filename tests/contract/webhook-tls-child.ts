import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { started, startWebhookSite } from './webhook-site.ts';

/** A process that trusts the certificate it is given: a TLS server with redirects, and a site that sends there. Prints how it ended. */
const [, , keyFile = '', certificateFile = ''] = process.argv;
const tls = { key: readFileSync(keyFile), cert: readFileSync(certificateFile) };
const secure = await startWebhookReceiver((listener) => createServer(tls, listener), 'https');
const plain = await startWebhookReceiver();
const site = await startWebhookSite({ location: () => ({ databaseUrl: null, dataDir: ':memory:' }) });

async function send(answer: WebhookReceiver['answer'], id: string): Promise<Record<string, unknown>> {
  secure.answer = answer;
  secure.forget();
  const { deliveries } = await site.emit('chatbot.session_started', started(id));
  await site.until(async () => (await site.operator.deliveryLog.get(deliveries[0] ?? ''))?.finishedAt != null);
  const found = await site.operator.deliveryLog.get(deliveries[0] ?? '');
  return {
    state: found?.state,
    attempts: found?.attempts,
    failure: found?.failure ?? null,
    requests: secure.received.length,
  };
}

await site.subscribe(secure);
const said = {
  secure: await send(({ path }) => (path === '/there' ? 200 : { status: 307, headers: { location: '/there' } }), 'c-1'),
  insecure: await send(() => ({ status: 307, headers: { location: plain.url } }), 'c-2'),
  plainRequests: plain.received.length,
};
await site.stop();
await Promise.all([secure.stop(), plain.stop()]);
process.stdout.write(`${JSON.stringify(said)}\n`);
