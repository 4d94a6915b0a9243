import type { DialectCase } from '../../../helpers/dialects.ts';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../../../host/clock.ts';
import { sessionStartedEvent } from '../../../../plugins/svc/modules/chatbots/session-started.event.ts';

const password = 'correct horse battery';

export interface OpenDeliveryLog {
  readonly host: TestHost;
  /** HTML of an admin page. */
  page(path: string): Promise<{ readonly status: number; readonly html: string }>;
  /** Posts a form of a page as a browser without JavaScript does, and follows the way back. */
  post(path: string, action: string, fields?: Readonly<Record<string, string | readonly string[]>>): Promise<string>;
  /** The same as the page's script does. */
  ask(
    path: string,
    action: string,
    fields?: Readonly<Record<string, string>>,
  ): Promise<{
    readonly status: number;
    readonly answer: { readonly notice: { readonly kind: string; readonly text: string } | null; readonly data: never };
  }>;
  /** Adds an endpoint that is subscribed to everything tests send; answers its id. */
  addEndpoint(url: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Sends an event and waits until its delivery has ended; answers the id of the delivery. */
  send(text?: string): Promise<string>;
  run(...argv: string[]): Promise<string>;
}

/** A whole site with the service, a signed-in administrator, and webhooks switched on; stopped after the test. */
export async function openDeliveryLog({ location }: Pick<DialectCase, 'location'>): Promise<OpenDeliveryLog> {
  const { databaseUrl, dataDir } = location();
  const host = await createTestHost({ plugins: ['svc'], database: databaseUrl ?? dataDir, clock: createSystemClock() });
  await host.users.create({ login: 'ada', email: 'ada@example.com', password, role: 'administrator' });
  const signIn = await host.fetch('/admin/login', {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ login: 'ada', password }),
  });
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';

  async function page(path: string): Promise<{ status: number; html: string }> {
    const answer = await host.fetch(`/admin/${path}`, { headers: { cookie }, redirect: 'manual' });
    return { status: answer.status, html: await answer.text() };
  }
  async function send(
    path: string,
    action: string,
    {
      fields,
      accept,
    }: { readonly fields: Readonly<Record<string, string | readonly string[]>>; readonly accept: string },
  ): Promise<Response> {
    const main = (await page(path)).html.split('<main')[1] ?? '';
    const body = new URLSearchParams({ _nonce: /(?:name="_nonce" value|data-nonce)="([^"]+)"/.exec(main)?.[1] ?? '' });
    for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one);
    return host.fetch(`/admin/${path.split('?')[0] ?? ''}?action=${action}`, {
      method: 'POST',
      headers: { cookie, accept },
      body,
      redirect: 'manual',
    });
  }
  async function run(...argv: string[]): Promise<string> {
    const { code, out, err } = await host.cli('svc', ...argv);
    if (code !== 0) throw new Error(err);
    return out;
  }
  await run('webhook', 'on');

  return {
    host,
    page,
    run,
    async post(path, action, fields = {}) {
      const answer = await send(path, action, { fields, accept: 'text/html' });
      const location = answer.headers.get('location');
      if (location === null) return answer.text();
      const told = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
      return (
        await host.fetch(new URL(location, host.url).href.slice(host.url.length), {
          headers: { cookie: [cookie, ...told].join('; ') },
        })
      ).text();
    },
    async ask(path, action, fields = {}) {
      const answer = await send(path, action, { fields, accept: 'application/json' });
      return { status: answer.status, answer: (await answer.json()) as never };
    },
    async addEndpoint(url, more = {}) {
      const added = JSON.parse(
        await run(
          'webhook',
          'add',
          '--json',
          JSON.stringify({ name: 'Receiver', url, events: [sessionStartedEvent.name], ...more }),
        ),
      ) as { readonly id: string };
      return added.id;
    },
    async send(text = 'Hello') {
      const ended = endOfNext(host);
      await host.hooks.doActionAsync(
        'svc_event_emit',
        sessionStartedEvent.name,
        { ...sessionStartedEvent.example, message: { text } },
        { key: [text, host.clock.now()] },
      );
      return ended;
    },
  };
}

/** Resolves with the id of the next delivery that ends. */
export function endOfNext(host: Pick<TestHost, 'hooks'>): Promise<string> {
  return new Promise((resolve) => {
    const undo = ['svc_event_webhooks_delivery_completed', 'svc_event_webhooks_delivery_failed'].map((action) =>
      host.hooks.addAction(action, (result: { readonly delivery_id: string }) => {
        for (const each of undo) each();
        resolve(result.delivery_id);
      }),
    );
  });
}
