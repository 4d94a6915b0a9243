import { createHmac } from 'node:crypto';
import type { TestHost } from '#testing';
import type { Received } from '../svc/webhooks/delivery/open-receiver.ts';

export const signingSecret = 'a signing secret of the site';
export const restKey = 'svc_a-rest-key-of-the-site-0123456789';
export const providerKey = 'sk-0123456789abcdef';

/** Labels of the secrets of `storeSecrets`, as an administrator reads them. */
export const secretLabels = [
  'Webhook signing secret',
  'REST API key',
  'OpenAI: API key',
  'Qdrant: API key',
  'Password of the mail server',
];

/** Runs a command and returns all it printed. */
export async function cli(host: TestHost, ...argv: string[]): Promise<string> {
  const { out, err } = await host.cli(...argv);
  return out + err;
}

/** Saves a secret of each kind. Everything leads to `url`, which has no path; webhooks go to `/hook`. */
export async function storeSecrets(host: TestHost, url: string): Promise<void> {
  await cli(host, 'svc', 'webhook', 'on');
  await cli(host, 'svc', 'webhook', 'secret', 'set', signingSecret);
  const endpoint = { name: 'Shop', url: `${url}/hook`, enabled: true, events: ['task.item_completed'] };
  await cli(host, 'svc', 'webhook', 'add', '--json', JSON.stringify(endpoint));
  await cli(host, 'svc', 'key', 'set', restKey);
  const provider = [`--api-key=${providerKey}`, `--base-url=${url}/v1`, '--model=m'];
  await cli(host, 'svc', 'provider', 'set', 'openai', ...provider);
  await cli(host, 'svc', 'vector-store', 'set', 'qdrant', `--url=${url}`, '--api-key=qd-0123456789abcdef');
  await host.mail.settings.save({
    host: '127.0.0.1',
    // Nothing listens there: what is sent fails at once.
    port: 1,
    security: 'none',
    user: 'site',
    from_name: 'Site',
    from_email: 'site@example.com',
    password: 'a mail password',
  });
}

/** Emits an event with an item of this id. */
export function emitItemCompleted(host: TestHost, id: number): Promise<string> {
  const data = { task: { id: 1 }, queue_item: { id, status: 'completed' } };
  return cli(host, 'svc', 'event', 'emit', 'task.item_completed', `--json=${JSON.stringify({ data })}`);
}

/** The signature that a delivery must have (contract 6.4). */
export function signatureOf({ headers, body }: Received, secret: string): string {
  const hmac = createHmac('sha256', secret)
    .update(`${String(headers['x-svc-timestamp'])}.`)
    .update(body);
  return `sha256=${hmac.digest('hex')}`;
}
