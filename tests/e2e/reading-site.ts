import { randomUUID } from 'node:crypto';
import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../contract/webhook-receiver.ts';
import { createSubmissionStore } from '../../plugins/svc/modules/chatbots/forms/submission-store.ts';
import { ada } from './browser.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

/** As long as names may be in practice, with a word that no column has room for. */
const longName = 'Questions about deliveries-returns-and-exchanges_of_what-we-sell, in English';

/** A site in sandbox mode where every page has something to show. */
export interface ReadingSite {
  readonly host: TestHost;
  stop(): Promise<void>;
}

export async function startReadingSite(): Promise<ReadingSite> {
  const host = await createMigratedHost({ plugins: ['svc', 'sandbox'], clock: createSystemClock() });
  const receiver = await startWebhookReceiver();
  await host.users.create(ada);
  await host.users.create({
    login: 'grace',
    displayName: longName,
    email: 'grace@example.com',
    password: ada.password,
    role: 'subscriber',
  });
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
  const { id: post } = await host.content.posts.create({
    title: `How to brew coffee at home. ${longName}`,
    content: longText,
    excerpt: 'Five ways, what each needs, and how long it takes.',
    status: 'publish',
    authorId: 1,
    commentStatus: 'open',
  });
  await host.options.update('comment_registration', false);
  for (const [name, content] of [
    ['Grace', 'Which grinder do you use?'],
    ['Alan', 'The ratio of 60 grams per liter works well. https://example.com/a-long-address-of-a-page-about-coffee'],
  ] as const) {
    const author = { author_name: name, author_email: `${name.toLowerCase()}@example.com` };
    const { status } = await host.fetch('/wp-json/wp/v2/comments', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ post, content, ...author }),
    });
    if (status !== 201) throw new Error(`The comment of ${name} was refused with ${String(status)}.`);
  }
}

/** Everything that an author may write: headings, lists, a quotation, code, a table wider than a phone. */
const longText = `<p>Coffee needs <strong>fresh beans</strong>, water and <a href="/about/">a little time</a>.</p>
<h2>What you need</h2><ul><li>A grinder<ul><li>by hand</li></ul></li><li>Filters</li></ul><ol><li>Grind</li><li>Pour</li></ol>
<blockquote><p>The best cup is the one that you make yourself.</p></blockquote><pre><code>const ratio = 60 / 1000; // grams of coffee per milliliter of water, for all of the five ways in this text</code></pre>
<table><thead><tr><th>Way</th><th>Grind</th><th>Temperature</th><th>Minutes</th><th>Difficulty</th></tr></thead>
<tbody><tr><td>French press</td><td>Coarse</td><td>95 degrees</td><td>4</td><td>Easy for everyone</td></tr></tbody></table><hr><p>Enjoy.</p>`;

async function seedWebhooks(host: TestHost, receiver: WebhookReceiver): Promise<void> {
  await run(host, 'svc', 'sandbox', 'on');
  await run(host, 'svc', 'webhook', 'on');
  const events = ['chatbot.fb_submitted', 'chatbot.response_generated', 'task.item_completed', 'content.generated'];
  const endpoint = { name: 'Shop', url: receiver.url, enabled: true, events };
  await run(host, 'svc', 'webhook', 'add', '--json', endpoint);
  await run(host, 'svc', 'webhook', 'add', '--json', { ...endpoint, name: longName, url: 'http://127.0.0.1:9/hook' });
}

async function seedChat(host: TestHost): Promise<void> {
  const { key } = (await run(host, 'svc', 'key', 'generate')) as { key: string };
  await run(host, 'svc', 'key', 'create', `--name=${longName}`, '--routes=generate,chat,logs');
  const settings = {
    name: longName,
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
  await seedSubmissions(host, id);
}

async function seedSubmissions(host: TestHost, botId: number): Promise<void> {
  const store = createSubmissionStore({ host });
  const labels = { email: 'Your email', message: 'What can we do for you?' };
  for (const [index, message] of [
    'Call me.',
    'Two of the cups arrived broken. Can I send them back? '.repeat(4),
  ].entries()) {
    const inputs = { email: 'grace@example.com', message };
    await store.add({
      id: randomUUID(),
      botId,
      formId: 'contact',
      formName: 'Contact',
      conversation: randomUUID(),
      userId: 0,
      sessionId: null,
      pageUrl: 'https://shop.example.com/returns',
      createdAt: Date.now() - index * 3_600_000,
      inputs,
      display_values: inputs,
      labels,
      summary: `Your email: ${inputs.email}\nWhat can we do for you?: ${message}`,
    });
  }
}

async function seedWork(host: TestHost): Promise<void> {
  await run(host, 'svc', 'image', 'generate', '--json', { prompt: 'A lighthouse' });
  const form = (await run(host, 'svc', 'form', 'create', '--json', {
    name: longName,
    elements: [{ id: 'topic', type: 'text', label: 'Topic', required: true }],
    prompt: 'echo: A slogan about {topic}',
  })) as { id: number };
  await run(host, 'svc', 'form', 'run', String(form.id), '--json', { topic: 'a bakery by the sea' });
  const { id } = (await run(
    host,
    ...['svc', 'knowledge', 'create', longName, '--store=qdrant', '--target=shop-help'],
    ...['--provider=openai', '--model=text-embedding-3-small'],
  )) as { id: number };
  await run(host, 'svc', 'knowledge', 'add', String(id), '--title=Returns', '--text=Return within 60 days.');
  const task = (await run(host, 'svc', 'task', 'create', '--json', {
    name: longName,
    type: 'content_writing',
    source: { kind: 'list', items: ['coffee', 'tea'] },
  })) as { id: number };
  await run(host, 'svc', 'task', 'run', String(task.id));
  await run(host, 'svc', 'task', 'work');
  await run(host, 'svc', 'queue', 'work');
  await run(host, 'svc', 'budget', 'set', {
    id: 'all',
    name: 'Whole site',
    scope: 'all',
    period: 'month',
    unit: 'calls',
    amount: 3,
  });
}
