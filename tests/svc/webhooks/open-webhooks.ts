import { createSystemClock } from '../../../host/clock.ts';
import { createCron } from '../../../host/cron/cron.ts';
import type { Database } from '../../../host/database/database.ts';
import { createHooks, type Hooks } from '../../../host/hooks/hooks.ts';
import { createJobs, migrations as jobMigrations } from '../../../host/jobs/jobs.ts';
import { createOptions, migrations as optionMigrations } from '../../../host/options/options.ts';
import { compileSchema } from '../../../host/options/setting-schema.ts';
import { Agent } from 'undici';
import type { Clock, HostApi, JobsApi, Logger } from '#plugin-api';
import { sessionStartedEvent } from '../../../plugins/svc/modules/chatbots/session-started.event.ts';
import { itemCompletedEvent } from '../../../plugins/svc/modules/automations/item-completed.event.ts';
import { createWebhooks, type WebhookService } from '../../../plugins/svc/webhooks/create-webhooks.ts';
import type { AttemptOutcome, Deliver } from '../../../plugins/svc/webhooks/delivery/deliver.contract.ts';
import { webhookMigrations } from '../../../plugins/svc/webhooks/migrations.ts';
import { defineReplays } from '../../../plugins/svc/webhooks/register.ts';
import { silentLog } from '../../helpers/silent-log.ts';

export const events = [sessionStartedEvent, itemCompletedEvent] as never[];

/** Data of an event that waits in the queue, and of one that is sent at once. */
export const queued = (id: string | number) => ({
  bot: { id: 1, name: 'Bot' },
  conversation: { id: String(id) },
  actor: { type: 'guest' },
});
export const atOnce = (id: number) => ({ task: { id: 1 }, queue_item: { id, status: 'completed' } });

/** A transport that sends for real, without guard and redirects. It waits for answers longer than any test holds them back, however busy the machine is. */
export function plainDeliver(timeout = 120_000): { readonly deliver: Deliver; readonly close: () => Promise<void> } {
  const agent = new Agent({ connections: 128 });
  const deliver: Deliver = async ({ url, headers, body }) => {
    const begun = performance.now();
    const target = new URL(url);
    const outcome = (part: Partial<AttemptOutcome>): AttemptOutcome => ({
      ok: false,
      status: null,
      failure: null,
      error: null,
      retryable: true,
      retryAfter: null,
      duration: performance.now() - begun,
      responseHeaders: {},
      responseBody: '',
      finalUrl: url,
      ...part,
    });
    try {
      const answer = await agent.request({
        origin: target.origin,
        path: target.pathname,
        method: 'POST',
        headers,
        body,
        headersTimeout: timeout,
      });
      const text = await answer.body.text();
      const ok = answer.statusCode >= 200 && answer.statusCode < 300;
      const retryable = [408, 409, 425, 429].includes(answer.statusCode) || answer.statusCode >= 500;
      return outcome({
        ok,
        status: answer.statusCode,
        failure: ok ? null : 'status',
        error: ok ? null : `The endpoint responded with ${String(answer.statusCode)}.`,
        retryable,
        responseHeaders: { 'x-answer': String(answer.headers['x-answer']) },
        responseBody: text,
      });
    } catch (error) {
      return outcome({
        failure: (error as { code?: string }).code === 'UND_ERR_HEADERS_TIMEOUT' ? 'timeout' : 'connect',
        error: String(error),
      });
    }
  };
  return { deliver, close: () => agent.destroy() };
}

export interface Opened {
  readonly webhooks: WebhookService;
  readonly hooks: Hooks;
  readonly jobs: JobsApi;
  readonly database: Database;
}

export interface OpenInit {
  readonly clock?: Clock;
  readonly log?: Logger;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed?: () => number;
}

/** Event webhooks on a real database, without the rest of the host. */
export async function openWebhooks(
  database: Database,
  deliver: Deliver,
  { clock = createSystemClock(), log = silentLog, elapsed }: OpenInit = {},
): Promise<Opened> {
  await database.migrate('host', [...optionMigrations, ...jobMigrations]);
  await database.migrate('svc', webhookMigrations);
  const hooks = createHooks({ log });
  const options = createOptions({ database, hooks, clock, log });
  await options.load();
  const cron = createCron({ database, hooks, clock, log });
  const jobs = createJobs({ database, hooks, cron, clock, log, compileSchema }).forOwner('svc');
  const host = {
    database,
    hooks,
    options,
    clock,
    jobs,
    log,
    site: {
      url: 'http://site.test',
      role: 'all',
      version: '1.0.0',
      id: async () => 'a site of tests',
      name: async () => 'Test',
      timezone: async () => 'UTC',
    },
    secrets: { encrypt: (plain: string) => `enc:${plain}`, decrypt: (text: string) => text.slice(4) },
    plugin: { slug: 'svc', version: '1.0.0' },
  } as unknown as HostApi;
  const webhooks = createWebhooks({ host, events, deliver, ...(elapsed && { elapsed }) });
  defineReplays(host, webhooks);
  return { webhooks, hooks, jobs, database };
}
