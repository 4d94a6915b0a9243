import { randomUUID } from 'node:crypto';
import type { HostApi, MailMessage, MailReceipt } from '#plugin-api';

/** A mail that was captured instead of sent. */
export interface CapturedMail {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface CapturedMails {
  /** Stores a mail and returns a receipt as a mail server would. */
  capture(message: MailMessage): Promise<MailReceipt>;
  /** Newest first. */
  list(): Promise<CapturedMail[]>;
  clear(): Promise<void>;
}

/** Older mails are deleted. */
const maxMails = 50;

interface MailRow {
  readonly id: string;
  readonly captured_at: number | string;
  readonly recipients: string;
  readonly subject: string;
  readonly body: string;
}

/** Mail in the database of the site, so that every node and the command line see the same. */
export function createCapturedMails({ database, clock }: Pick<HostApi, 'database' | 'clock'>): CapturedMails {
  const newest = () =>
    database.knex<MailRow>('sandbox_mails').orderBy('captured_at', 'desc').orderBy('id').limit(maxMails);
  return {
    async capture({ to, subject, text }) {
      const id = randomUUID();
      await database.knex('sandbox_mails').insert({
        id,
        captured_at: clock.now(),
        recipients: [to].flat().join(', '),
        subject,
        body: text,
      });
      const shown = (await newest()).map((row) => row.id);
      await database.knex('sandbox_mails').whereNotIn('id', shown).delete();
      return { reply: '250 Captured by the sandbox' };
    },
    list: async () =>
      (await newest()).map((row) => ({
        id: row.id,
        at: Number(row.captured_at),
        to: row.recipients,
        subject: row.subject,
        text: row.body,
      })),
    async clear() {
      await database.knex('sandbox_mails').delete();
    },
  };
}
