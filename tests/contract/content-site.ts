import { Ajv } from 'ajv';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import type { Clock } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { contentGeneratedEvent } from '../../plugins/svc/modules/content-writer/content-generated.event.ts';
import type { Envelope } from '../../plugins/svc/webhooks/event.ts';
import { answerIn, startStreamingUpstream, type ChatTurn, type StreamingUpstream } from './streaming-upstream.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';
import { createMigratedHost } from '../helpers/migrated.ts';
import { until } from '../helpers/until.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are compared, not typed.
export type Event = Envelope & { readonly data: any };

export interface SentEvent {
  readonly event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are compared, not typed.
  readonly data: any;
}

/** A site with the service, a provider that the test speaks for, a receiver of all its events, and a signed-in user in front of the admin. */
export interface ContentSite {
  readonly host: TestHost;
  readonly upstream: StreamingUpstream;
  readonly receiver: WebhookReceiver;
  readonly userId: number;
  /** What a command prints with `--json`. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are compared, not typed.
  run(...words: string[]): Promise<any>;
  /** Sends a form of the content writer. */
  post(
    action: string,
    fields?: Readonly<Record<string, string>>,
    page?: string,
  ): Promise<{
    readonly status: number;
    readonly body: {
      readonly notice: { readonly text: string } | null;
      readonly redirect: string | null;
      readonly data: unknown;
    };
  }>;
  /** Streams a text; resolves with all events. */
  stream(fields: Readonly<Record<string, string>>, init?: RequestInit): Promise<readonly SentEvent[]>;
  open(fields: Readonly<Record<string, string>>, init?: RequestInit): Promise<Response>;
  /** The first `count` events that arrived. */
  events(count: number): Promise<readonly Event[]>;
  /** Writes what waits in batches. */
  worked(): Promise<void>;
  /** Looks again and again, for ten seconds. */
  until(look: () => Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

export interface ContentSiteInit {
  readonly database?: string;
  readonly clock?: Clock;
  readonly role?: string;
}

const password = 'a long password';
/** Answers of the upstream by the first words of a prompt. */
const answers: readonly (readonly [begins: string, text: string])[] = [
  ['Write one title', '"Coffee: up there"'],
  [
    'Write an article',
    '# Coffee: up there\n\nWater **boils** earlier.<script>alert(1)</script>\n\n## Grind [svc_chatbot id=1]\n\n- finer\n\n![x](https://tracker.example/x.png) [more](https://example.com/more)',
  ],
  ['Write a short piece', 'News about it.'],
  ['Sum up', 'Why it tastes different.'],
  ['Write a meta', 'Brewing in the mountains: what changes, and what to do about it.'],
  ['Name the one', 'Mountain Coffee.'],
  ['Name 3', 'coffee\n#Mountains\nCoffee'],
];

/** Says what a model would say to the prompts of the built-in templates. */
export function answerAsModel(turn: ChatTurn): void {
  const prompt = turn.call.messages.at(-1)?.content ?? '';
  const text = answers.find(([begins]) => prompt.startsWith(begins))?.[1] ?? `You said: ${prompt}`;
  for (const piece of answerIn(turn.call, text).split(/(?<= )/)) turn.piece(piece);
  turn.end({ input: 100, output: 10 });
}

export async function startContentSite({
  database,
  clock = createSystemClock(),
  role = 'administrator',
}: ContentSiteInit = {}): Promise<ContentSite> {
  const upstream = await startStreamingUpstream();
  upstream.answer = answerAsModel;
  const host = await createMigratedHost({ plugins: ['svc'], clock, ...(database !== undefined && { database }) });
  host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
    id === 'openai' ? { ...settings, api_key: 'sk-upstream', base_url: upstream.url, model: 'gpt-4o-mini' } : settings,
  );
  const { id: userId } = await host.users.create({
    login: 'ada',
    email: 'ada@example.com',
    password,
    displayName: 'Ada',
    role,
  });
  const signedIn = await host.fetch('/admin/login', {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ login: 'ada', password }),
  });
  const cookie =
    signedIn.headers
      .getSetCookie()
      .find((one) => one.startsWith('svc_session='))
      ?.split(';', 1)[0] ?? '';
  const receiver = await startWebhookReceiver();
  await host.cli('svc', 'webhook', 'on');
  await host.cli(
    'svc',
    'webhook',
    'add',
    '--json',
    JSON.stringify({ name: 'All', url: receiver.url, events: ['content.generated'] }),
  );
  const nonces = new Map<string, string>();
  const nonceOf = async (page: string): Promise<string> => {
    const known = nonces.get(page);
    if (known !== undefined) return known;
    const html = await (await host.fetch(`/admin/${page}`, { headers: { cookie } })).text();
    const nonce = /name="_nonce" value="([^"]+)"/.exec(html.slice(html.indexOf('<main')))?.[1] ?? '';
    if (nonce !== '') nonces.set(page, nonce);
    return nonce;
  };
  const send = async (
    action: string,
    fields: Readonly<Record<string, string>>,
    { page, init = {} }: { readonly page: string; readonly init?: RequestInit },
  ): Promise<Response> => {
    // Of one batch the page is opened with its id.
    const _nonce = await nonceOf(page === 'svc/content/batch' ? `svc/content/batch?id=${fields['id'] ?? ''}` : page);
    return host.fetch(`/admin/${page}?action=${action}`, {
      method: 'POST',
      headers: { cookie, accept: 'application/json' },
      body: new URLSearchParams({ _nonce, ...fields }),
      ...init,
    });
  };
  const site: ContentSite = {
    host,
    upstream,
    receiver,
    userId,
    async run(...words) {
      const { code, out, err } = await host.cli(
        'svc',
        ...words,
        ...(words.some((word) => word.startsWith('--json')) ? [] : ['--json']),
      );
      if (code !== 0) throw new Error(err);
      return JSON.parse(out) as unknown;
    },
    async post(action, fields = {}, page = 'svc/content') {
      const response = await send(action, fields, { page });
      return {
        status: response.status,
        body: (await response.json()) as Awaited<ReturnType<ContentSite['post']>>['body'],
      };
    },
    open: (fields, init) => send('stream', fields, { page: 'svc/content', ...(init && { init }) }),
    async stream(fields, init) {
      const response = await site.open(fields, init);
      return readEvents(await response.text());
    },
    events: async (count) => (await receiver.first(count)).map(({ body }) => JSON.parse(body.toString()) as Event),
    async worked() {
      await host.cli('svc', 'content', 'work');
    },
    until: (look) => until('a condition of the test', look),
    async stop() {
      await host.stop();
      await upstream.stop();
      await receiver.stop();
    },
  };
  return site;
}

export function readEvents(text: string): readonly SentEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map((block) => {
      const [event = '', data = ''] = block.split('\n');
      return { event: event.slice('event: '.length), data: JSON.parse(data.slice('data: '.length)) as unknown };
    });
}

/** As its schema says. */
export function checkEvent({ data }: Event): void {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  expect(ajv.validate(contentGeneratedEvent.schema, data), ajv.errorsText()).to.equal(true);
}
