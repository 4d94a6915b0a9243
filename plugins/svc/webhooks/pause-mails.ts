import type { HostApi } from '#plugin-api';
import type { Webhooks } from './webhooks.ts';

/** Most administrators that get a mail. */
const mostRecipients = 50;

export interface PauseMailsParts {
  readonly host: Pick<HostApi, 'hooks' | 'users' | 'mail' | 'site' | 'admin' | 'i18n' | 'log'>;
  readonly webhooks: Pick<Webhooks, 'settings'>;
}

/**
 * Mails the administrators when deliveries to an endpoint are paused, and when a probe resumes them (D45), in the language of
 * the site. The node that stores the pause queues the mail. Without a mail server nothing is sent. The filter
 * `svc_event_webhooks_mail_recipients` chooses other people.
 */
export function addPauseMails({ host, webhooks }: PauseMailsParts): void {
  const { hooks, users, mail, site, admin, i18n, log } = host;

  async function recipients(endpointId: string): Promise<readonly string[]> {
    const found = await users.list({ role: 'administrator', limit: mostRecipients });
    const addresses = found.map(({ email }) => email).filter((email) => email !== '');
    return hooks.applyFiltersAsync('svc_event_webhooks_mail_recipients', addresses, endpointId);
  }

  async function send(endpointId: string, subject: string, sentences: () => readonly string[]): Promise<void> {
    if (!(await mail.isAvailable())) return;
    const endpoint = (await webhooks.settings()).endpoints.find(({ id }) => id === endpointId);
    if (endpoint === undefined) return;
    const name = endpoint.name || endpoint.url;
    const page = `${admin.url('svc/deliveries')}#paused`;
    const message = await i18n.inSiteLanguage(async () => ({
      subject: i18n.__(subject, { name: name.slice(0, 100), site: await site.name() }).replace(/\p{Cc}+/gu, ' '),
      text: [...sentences(), page].join('\n\n'),
    }));
    for (const to of await recipients(endpointId)) await mail.queue({ to, ...message });
  }

  /** A mail that cannot be queued changes nothing for the deliveries. */
  function sendOrLog(...args: Parameters<typeof send>): Promise<void> {
    return send(...args).catch((error: unknown) =>
      log.error('Failed to mail about a webhook endpoint', {
        event: 'webhook_pause_mail_failed',
        endpoint: args[0],
        error,
      }),
    );
  }

  hooks.addAction('svc_event_webhooks_endpoint_paused', (endpointId, reason) =>
    sendOrLog(endpointId, 'Webhook deliveries to {name} are paused ({site})', () => [
      i18n.__(reason),
      i18n.__('Its events are waiting and will not be lost.'),
    ]),
  );
  hooks.addAction('svc_event_webhooks_endpoint_resumed', (endpointId) =>
    sendOrLog(endpointId, 'Webhook deliveries to {name} have resumed ({site})', () => [
      i18n.__('The endpoint accepts deliveries again. Waiting events are sent now.'),
    ]),
  );
}
