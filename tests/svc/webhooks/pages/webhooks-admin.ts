import type { Endpoint } from '../../../../plugins/svc/webhooks/endpoint.ts';
import { createSystemClock } from '../../../../host/clock.ts';
import { describeSharedHosts } from '../../../helpers/dialects.ts';
import { shareSite } from '../../../helpers/share-site.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../../../pages/pages-site.ts';
import { startReceiver, type Receiver } from '../receiver.ts';

/** A site with the service, an administrator at its pages and a receiver. */
export interface WebhooksAdmin extends PagesSite {
  readonly browser: AdminBrowser;
  readonly receiver: Receiver;
  /** Adds an endpoint by the command line. */
  add(input: Readonly<Record<string, unknown>>): Promise<Endpoint>;
  endpoints(): Promise<Record<string, unknown>[]>;
  /** Runs a command that must succeed; what it printed as JSON. */
  run(...argv: string[]): Promise<unknown>;
  /** Sends a form as the page's script does; answers the JSON. */
  sendAsync(
    path: string,
    action: string,
    fields?: Readonly<Record<string, string>>,
  ): Promise<{
    readonly status: number;
    readonly body: Record<string, never> & { readonly notice: { readonly kind: string; readonly text: string } };
  }>;
  /** Resolves with the next delivery that fails for good. */
  nextFailure(): Promise<void>;
}

/** Runs a suite against a site, which is restored after each test, on both databases. Each test has its own receiver. */
export function describeWebhooksAdmin(title: string, define: (admin: () => WebhooksAdmin) => void): void {
  describeSharedHosts(title, (dialectCase) => {
    const shared = shareSite(async () => {
      const site = await openPages(dialectCase, {}, { plugins: ['svc'], clock: createSystemClock() });
      await site.create({ login: 'ada', role: 'administrator' });
      return { ...site, browser: await site.signIn('ada'), ...commandsOf(site), ...asyncOf(await site.signIn('ada')) };
    });
    let receiver: Receiver;
    beforeEach(async () => {
      receiver = await startReceiver();
    });
    afterEach(() => receiver.stop());
    define(() => ({ ...shared(), receiver }));
  });
}

function commandsOf({ host }: PagesSite): Pick<WebhooksAdmin, 'add' | 'endpoints' | 'run' | 'nextFailure'> {
  const run = async (...argv: string[]): Promise<unknown> => {
    const { code, out, err } = await host.cli(...argv);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out) as unknown;
  };
  return {
    run,
    add: async (input) => (await run('svc', 'webhook', 'add', '--json', JSON.stringify(input))) as Endpoint,
    endpoints: async () => (await run('svc', 'webhook', 'list', '--json')) as Record<string, unknown>[],
    nextFailure: () =>
      new Promise((resolve) => {
        const undo = host.hooks.addAction('svc_event_webhooks_delivery_failed', () => {
          undo();
          resolve();
        });
      }),
  };
}

function asyncOf(browser: AdminBrowser): Pick<WebhooksAdmin, 'sendAsync'> {
  return {
    async sendAsync(path, action, fields = {}) {
      const { html } = await browser.get(path);
      const [, nonce = ''] = /name="_nonce" value="([^"]+)"/.exec(html.slice(html.indexOf('<main'))) ?? [];
      const { status, bytes } = await browser.post(
        `${path.split('?')[0] ?? ''}?action=${action}`,
        { ...fields, _nonce: nonce },
        { accept: 'application/json' },
      );
      return { status, body: JSON.parse(new TextDecoder().decode(bytes)) as never };
    },
  };
}
