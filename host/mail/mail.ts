import type { Socket } from 'node:net';
import type {
  Clock,
  DatabaseApi,
  HooksApi,
  JobsApi,
  Logger,
  MailApi,
  MailMessage,
  MailReceipt,
  MailSummary,
  OptionsApi,
  SecretsApi,
} from '#plugin-api';
import { checkMessage, mailErrors } from './check-message.ts';
import { createMailQueue } from './mail-queue.ts';
import { createMailStore, type StoredMail } from './mail-store.ts';
import { sendBySmtp } from './smtp.ts';
import { createSettingsStore, type SettingsStore } from './smtp-settings.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a mail before it is sent. */
    wp_mail: (message: MailMessage) => MailMessage;
    /** A receipt instead of null: the callback has delivered the mail, and it is not sent over SMTP. */
    pre_wp_mail: (receipt: MailReceipt | null, message: MailMessage) => MailReceipt | null;
    /** Whether mail can be sent. A plugin that delivers mail with `pre_wp_mail` returns true. */
    wp_mail_available: (isAvailable: boolean) => boolean;
  }
  interface ActionMap {
    /** After the mail server accepted a mail. */
    wp_mail_succeeded: (mail: MailSummary) => void;
    /** After each attempt that failed. */
    wp_mail_failed: (error: unknown, mail: MailSummary) => void;
  }
}

export interface MailDependencies {
  readonly options: Pick<OptionsApi, 'get' | 'update' | 'delete' | 'compareAndSet'>;
  readonly secrets: SecretsApi & {
    seal(purpose: string, text: string): string;
    unseal(purpose: string, sealed: string): string;
    reseal(purpose: string, sealed: string): string;
  };
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction' | 'afterCommit'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync' | 'addAction'>;
  readonly jobs: { forOwner(owner: string): JobsApi };
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Logger;
  /** Opens a connection to a checked address. */
  readonly connect: (target: {
    readonly hostname: string;
    readonly port: number;
    readonly timeout: number;
  }) => Promise<Socket>;
  readonly site: { readonly url: string; name(): Promise<string> };
  /** PEM of a certificate authority to trust. Default: those of Node. */
  readonly ca?: string;
}

export interface Mail extends MailApi {
  readonly settings: SettingsStore;
  /** Unsent mails, newest first. */
  unsent(limit: number): Promise<readonly StoredMail[]>;
  /** Sends a failed mail after all. Returns false if it is not failed, is gone or has expired. */
  retry(id: string): Promise<boolean>;
  /** Deletes an unsent mail. Returns whether it existed. */
  remove(id: string): Promise<boolean>;
  /** Encrypts unsent mails again that a previous key encrypted. Returns their number. */
  reseal(): Promise<number>;
  /** A sentence about unsent mails whose secret key is missing; null: there are none. */
  describeHeld(): Promise<string | null>;
  /** Waits for the attempts in progress. */
  settled(): Promise<void>;
  /** Waits for the attempts in progress, for at most five seconds, and ends the others. They are repeated later. */
  stop(): Promise<void>;
}

/** Milliseconds of one attempt. */
const attemptTimeout = 30_000;
const stopTimeout = 5_000;

/** Mail of the site (see MailApi). */
export function createMail(dependencies: MailDependencies): Mail {
  const { options, secrets, database, hooks, clock } = dependencies;
  const settings = createSettingsStore({ options, secrets });
  secrets.addStore(settings.secretStore);
  const store = createMailStore({
    database,
    clock,
    seal: (text) => secrets.seal('mails', text),
    unseal: (sealed) => secrets.unseal('mails', sealed),
  });
  const stopping = new AbortController();
  const send = createSender(dependencies, { settings, stopping: stopping.signal });
  const queue = createMailQueue({ ...dependencies, jobs: dependencies.jobs.forOwner('host'), store, send });
  return {
    settings,
    send: (message) => send(message),
    isAvailable: async () => hooks.applyFiltersAsync('wp_mail_available', (await settings.read()) !== null),
    queue: (message, { expiresAt } = {}) => queue.add(checkMessage(message), expiresAt ?? null),
    unsent: (limit) => store.list(limit),
    retry: (id) => queue.retry(id),
    remove: (id) => queue.remove(id),
    reseal: () =>
      store.rewriteSealed((sealed) => {
        try {
          return secrets.reseal('mails', sealed);
        } catch {
          return sealed;
        }
      }),
    async describeHeld() {
      const held = await store.countUnreadable();
      if (held === 0) return null;
      return `${held} unsent ${held === 1 ? 'mail waits' : 'mails wait'} for the secret key that encrypted them.`;
    },
    settled: () => queue.settled(),
    async stop() {
      const undo = clock.after(stopTimeout, () => stopping.abort());
      await queue.settled();
      undo();
    },
  };
}

/** Sends one mail with WordPress's hooks, over SMTP unless a plugin delivers it. */
function createSender(
  { hooks, clock, connect, site, ca }: MailDependencies,
  { settings, stopping }: { readonly settings: SettingsStore; readonly stopping: AbortSignal },
): (message: MailMessage, signal?: AbortSignal) => Promise<MailReceipt> {
  async function deliver(given: MailMessage, signals: readonly AbortSignal[]): Promise<MailReceipt> {
    const message = checkMessage(await hooks.applyFiltersAsync('wp_mail', checkMessage(given)));
    const taken = await hooks.applyFiltersAsync('pre_wp_mail', null, message);
    if (taken !== null) return taken;
    const found = await settings.read();
    if (found === null) throw mailErrors.mail_unavailable();
    if (found.isPasswordUnreadable) throw mailErrors.mail_password_unreadable();
    const deadline = new AbortController();
    const undo = clock.after(attemptTimeout, () => deadline.abort());
    try {
      return await sendBySmtp({
        settings: found,
        message,
        fromName: found.server.fromName || oneLine(await site.name()),
        clientName: new URL(site.url).hostname,
        connect,
        signal: AbortSignal.any([deadline.signal, stopping, ...signals]),
        ...(ca !== undefined && { ca }),
      });
    } finally {
      undo();
    }
  }
  return async (message, signal) => {
    const summary = { to: [message.to].flat(), subject: message.subject };
    try {
      const receipt = await deliver(message, signal === undefined ? [] : [signal]);
      await hooks.doActionAsync('wp_mail_succeeded', summary);
      return receipt;
    } catch (error) {
      await hooks.doActionAsync('wp_mail_failed', error, summary);
      throw error;
    }
  };
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim();
}
