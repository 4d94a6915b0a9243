import { randomUUID } from 'node:crypto';
import { createFakeClock, type FakeClock, type TestHost } from '#testing';
import type { Clock } from '#plugin-api';
import type { Bot } from '../../plugins/svc/modules/chatbots/bots/bot.ts';
import type { SendResponse, SendEvent, StartResponse } from '../../plugins/svc/modules/chatbots/widget/protocol.ts';
import { describeSharedHosts, type DialectCase } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { startStreamingUpstream, type StreamingUpstream } from './streaming-upstream.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** `code` and the rest of an error body (contract 7). */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly status: number };
}

type Fields = Readonly<Record<string, unknown>>;
type HeaderFields = Readonly<Record<string, string>>;

/** Changes to the settings of a new bot. */
export type BotInit = Fields;

/** A page with the widget, as far as the server sees it: one browser on one site. */
export interface Guest {
  readonly bot: number;
  /** Sent with every request; may be changed. */
  headers: Record<string, string>;
  token: string;
  conversation: string | null;
  start(body?: Fields): Promise<Answer<StartResponse>>;
  /** Sends a message and waits for the answer as a whole. */
  send(text: string, body?: Fields): Promise<Answer<SendResponse>>;
  /** Sends a message and reads the answer as it is made. */
  stream(text: string, body?: Fields): Promise<Stream>;
  post<Body = Failure>(route: string, body: Fields): Promise<Answer<Body>>;
}

export interface Stream {
  readonly response: Response;
  /** What came so far. */
  readonly events: readonly SendEvent[];
  /** Text of the pieces so far. */
  text(): string;
  /** Resolves as soon as such an event has come. */
  until(type: SendEvent['type']): Promise<SendEvent>;
  /** Resolves with all events when the server has ended the stream. */
  whole(): Promise<readonly SendEvent[]>;
  hangUp(): Promise<void>;
}

export interface WidgetSite {
  readonly host: TestHost;
  readonly clock: FakeClock;
  readonly upstream: StreamingUpstream;
  bot(init?: BotInit): Promise<Bot>;
  change(id: number, changes: Fields): Promise<Bot>;
  guest(bot: Pick<Bot, 'id'>, headers?: HeaderFields): Guest;
  /** A user of the site, signed in. */
  user(login: string, role?: string): Promise<{ readonly id: number; readonly cookie: string }>;
  /** A guest who has begun a session. */
  started(bot: Pick<Bot, 'id'>, headers?: HeaderFields): Promise<Guest>;
  stop(): Promise<void>;
}

export const shop = 'https://shop.example.com';

export interface SiteInit {
  readonly database?: string;
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string>>;
  /** The fake provider of another site, which both then share. */
  readonly upstream?: StreamingUpstream;
}

export async function startWidgetSite({
  database,
  clock = createFakeClock({ now: Date.UTC(2026, 10, 20, 10), skipSleeps: true }),
  env = {},
  upstream: shared,
}: SiteInit = {}): Promise<WidgetSite> {
  const upstream = shared ?? (await startStreamingUpstream());
  const host = await createMigratedHost({ plugins: ['svc'], clock, env, ...(database !== undefined && { database }) });
  host.hooks.addFilter('svc_provider_settings', (settings: Fields, id: string) =>
    id === 'openai' ? { ...settings, api_key: 'sk-upstream', base_url: upstream.url } : settings,
  );
  const command = async (verb: string, settings: Fields): Promise<Bot> => {
    const { code, out, err } = await host.cli('svc', 'bot', verb, '--json', JSON.stringify(settings));
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as Bot;
  };
  const site: WidgetSite = {
    host,
    clock: clock as FakeClock,
    upstream,
    bot: ({ embed, ...init } = {}) =>
      command('create', {
        name: 'Shop assistant',
        provider: 'openai',
        model: 'gpt-4o-mini',
        embed: {
          enabled: true,
          allowed_domains: ['shop.example.com'],
          any_site: false,
          ...(embed as Fields | undefined),
        },
        ...init,
      }),
    change: (id, changes) => command('update', { id, ...changes }),
    guest: (bot, headers = { origin: shop }) => guestOf(host, bot.id, headers),
    async user(login, role = 'subscriber') {
      const password = 'a long password';
      const { id } = await host.users.create({
        login,
        email: `${login}@example.com`,
        password,
        displayName: login.toUpperCase(),
        role,
      });
      const answer = await host.fetch('/admin/login', {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ login, password }),
      });
      const cookie = answer.headers
        .getSetCookie()
        .find((one) => one.startsWith('svc_session='))
        ?.split(';', 1)[0];
      if (cookie === undefined) throw new Error(`Signing in was answered with ${String(answer.status)}.`);
      return { id, cookie };
    },
    async started(bot, headers) {
      const guest = site.guest(bot, headers);
      const { status, body } = await guest.start();
      if (status !== 200) throw new Error(JSON.stringify(body));
      return guest;
    },
    async stop() {
      await host.stop();
      if (shared === undefined) await upstream.stop();
    },
  };
  return site;
}

function guestOf(host: TestHost, bot: number, headers: HeaderFields): Guest {
  const call = (route: string, body: Fields, more: HeaderFields = {}): Promise<Response> =>
    host.fetch(`/wp-json/svc-widget/v1/bots/${String(bot)}/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...guest.headers, ...more },
      body: JSON.stringify({ ...(guest.token !== '' && { token: guest.token }), ...body }),
    });
  const message = (text: string, body: Fields): Fields => ({
    message_id: randomUUID(),
    text,
    ...(guest.conversation !== null && { conversation: guest.conversation }),
    ...body,
  });
  const guest: Guest = {
    bot,
    headers: { ...headers },
    token: '',
    conversation: null,
    async post<Body>(route: string, body: Fields) {
      return read<Body>(await call(route, body));
    },
    async start(body = {}) {
      const answer = await read<StartResponse>(await call('start', body));
      if (answer.status === 200) {
        guest.token = answer.body.token;
        const cookie = answer.headers.get('set-cookie');
        // As a browser does: the new one takes the place of the one of its name.
        if (cookie !== null)
          guest.headers['cookie'] = [
            ...(guest.headers['cookie'] ?? '').split('; ').filter((one) => one !== '' && !one.startsWith('svc_chat=')),
            cookie.split(';', 1)[0],
          ].join('; ');
      }
      return answer;
    },
    async send(text, body = {}) {
      const answer = await read<SendResponse>(await call('messages', message(text, body)));
      if (answer.status === 200) guest.conversation = answer.body.conversation;
      return answer;
    },
    async stream(text, body = {}) {
      const stream = readStream(await call('messages', message(text, body), { accept: 'text/event-stream' }));
      void stream.until('accepted').then(
        (event) => {
          if (event.type === 'accepted') guest.conversation = event.conversation;
        },
        () => undefined,
      );
      return stream;
    },
  };
  return guest;
}

async function read<Body>(response: Response): Promise<Answer<Body>> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? null : JSON.parse(text)) as Body };
}

function readStream(response: Response): Stream {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new Error(`No stream, but ${String(response.status)}.`);
  const events: SendEvent[] = [];
  const looks = new Set<() => void>();
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let ended = false;
  const done = (async () => {
    let text = '';
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        events.push(...blocks.filter((block) => !block.startsWith(':')).map(readEvent));
        for (const look of looks) look();
      }
    } finally {
      ended = true;
      for (const look of looks) look();
    }
  })();
  done.catch(() => undefined);
  return {
    response,
    events,
    text: () => events.map((event) => (event.type === 'delta' ? event.text : '')).join(''),
    until: (type) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find((event) => event.type === type);
          if (found === undefined && !ended) return;
          looks.delete(look);
          if (found === undefined) reject(new Error(`The stream ended without '${type}': ${JSON.stringify(events)}`));
          else resolve(found);
        };
        looks.add(look);
        look();
      }),
    async whole() {
      await done;
      return events;
    },
    hangUp: () => reader.cancel(),
  };
}

function readEvent(block: string): SendEvent {
  const [first = '', second = '', ...more] = block.split('\n');
  if (!first.startsWith('event: ') || !second.startsWith('data: ') || more.length > 0)
    throw new Error(`No event of the protocol: ${block}`);
  return { type: first.slice('event: '.length), ...(JSON.parse(second.slice('data: '.length)) as object) } as SendEvent;
}

/** Runs a suite against a site, which is restored after each test, on both databases. */
export function describeWidget(
  title: string,
  define: (site: () => WidgetSite, dialectCase: DialectCase) => void,
): void {
  describeSharedHosts(title, (dialectCase) => {
    const site = shareSite(
      () => {
        const { databaseUrl, dataDir } = dialectCase.location();
        return startWidgetSite({ database: databaseUrl ?? dataDir });
      },
      (opened) => opened.stop(),
    );
    afterEach(() => site().upstream.reset());
    define(site, dialectCase);
  });
}
