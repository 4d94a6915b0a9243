import { randomUUID } from 'node:crypto';
import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { ada } from './browser.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

/** A site in sandbox mode where every page has something to show. */
export interface ReadingSite {
  readonly host: TestHost;
  stop(): Promise<void>;
}

export async function startReadingSite(): Promise<ReadingSite> {
  const host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
  const receiver = await startWebhookReceiver();
  await host.users.create(ada);
  await host.users.create({ login: 'grace', email: 'grace@example.com', password: ada.password, role: 'subscriber' });
  await seedContent(host);
  await seedWebhooks(host, receiver);
  await seedChat(host);
  await seedWork(host);
  return {
    host,
    async stop() {
      await host.stop();
      await receiver.stop();
    },
  };
}

/** Runs a command, with an object as its last argument given as JSON, and reads its JSON. */
async function run(host: TestHost, ...argv: (string | object)[]): Promise<unknown> {
  const line = argv.map((part) => (typeof part === 'string' ? part : JSON.stringify(part)));
  const { code, out, err } = await host.cli(...line, ...(line.includes('--json') ? [] : ['--json']));
  if (code !== 0) throw new Error(`${line.join(' ')}: ${err}`);
  return out.trim() === '' ? null : JSON.parse(out);
}

async function seedContent(host: TestHost): Promise<void> {
  for (const status of ['publish', 'draft', 'pending', 'private'] as const)
    await host.content.posts.create({ title: `A ${status} post`, content: '<p>Coffee.</p>', status, authorId: 1 });
  await host.content.posts.create({ type: 'page', title: 'About', content: '<p>About us.</p>', status: 'publish' });
}

async function seedWebhooks(host: TestHost, receiver: WebhookReceiver): Promise<void> {
  await run(host, 'svc', 'sandbox', 'on');
  await run(host, 'svc', 'webhook', 'on');
  const events = ['chatbot.fb_submitted', 'chatbot.response_generated', 'task.item_completed', 'content.generated'];
  const endpoint = { name: 'Shop', url: receiver.url, enabled: true, events };
  await run(host, 'svc', 'webhook', 'add', '--json', endpoint);
  await run(host, 'svc', 'webhook', 'add', '--json', { ...endpoint, name: 'Closed', url: 'http://127.0.0.1:9/hook' });
}

async function seedChat(host: TestHost): Promise<void> {
  const { key } = (await run(host, 'svc', 'key', 'generate')) as { key: string };
  const settings = {
    name: 'Shop helper',
    embed: { enabled: true, allowed_domains: ['shop.example.com'] },
    rules: [
      {
        id: 'returns',
        name: 'Returns',
        enabled: true,
        event: 'message_received',
        conditions: [{ fact: 'message', operator: 'contains', value: 'return' }],
        action: { type: 'reply', text: 'Within 60 days.' },
        priority: 1,
      },
    ],
  };
  const { id } = (await run(host, 'svc', 'bot', 'create', '--json', settings)) as { id: number };
  for (const text of ['Where is my order?', 'echo: Thank you']) {
    await host.fetch(`/wp-json/svc/v1/chat/${String(id)}/message`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ conversation_uuid: randomUUID(), messages: [{ role: 'user', content: text }] }),
    });
  }
}

async function seedWork(host: TestHost): Promise<void> {
  await run(host, 'svc', 'image', 'generate', '--json', { prompt: 'A lighthouse' });
  await run(host, 'svc', 'form', 'create', '--json', {
    name: 'Slogan',
    elements: [{ id: 'topic', type: 'text', label: 'Topic', required: true }],
    prompt: 'echo: A slogan about {topic}',
  });
  const { id } = (await run(
    host,
    ...['svc', 'knowledge', 'create', 'Shop help', '--store=qdrant', '--target=shop-help'],
    ...['--provider=openai', '--model=text-embedding-3-small'],
  )) as { id: number };
  await run(host, 'svc', 'knowledge', 'add', String(id), '--title=Returns', '--text=Return within 60 days.');
  const task = (await run(host, 'svc', 'task', 'create', '--json', {
    name: 'Weekly notes',
    type: 'content_writing',
    source: { kind: 'list', items: ['coffee', 'tea'] },
  })) as { id: number };
  await run(host, 'svc', 'task', 'run', String(task.id));
  await run(host, 'svc', 'budget', 'set', {
    id: 'all',
    name: 'Whole site',
    scope: 'all',
    period: 'month',
    unit: 'calls',
    amount: 3,
  });
}
