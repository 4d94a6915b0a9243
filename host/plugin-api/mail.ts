export interface MailMessage {
  /** Email addresses without display names, 1..50. */
  readonly to: string | readonly string[];
  /** One line of 1..255 characters. */
  readonly subject: string;
  /** Plain text, 1..500,000 characters. */
  readonly text: string;
  /** The same content as HTML, at most 500,000 characters. Default: plain text only. */
  readonly html?: string;
  /** Address for answers. Default: the sender of the site. */
  readonly replyTo?: string;
}

export interface MailReceipt {
  /** The last reply of the mail server, for example `250 2.0.0 OK: queued as 4D2C1`. */
  readonly reply: string;
}

export interface QueuedMail {
  /** Milliseconds since the epoch. A mail that could not be sent until then is not sent any more. Default: no limit. */
  readonly expiresAt?: number;
}

/**
 * Sends mail over the SMTP server of System, Mail. The hooks are WordPress's: the filters `wp_mail` and `pre_wp_mail`, the
 * actions `wp_mail_succeeded` and `wp_mail_failed`.
 *
 * Throws RestError 400 `mail_invalid` for a message with an invalid member, such as a line break in the subject.
 */
export interface MailApi {
  /** Whether mail can be sent: a server is set up, or a plugin delivers the mail. */
  isAvailable(): Promise<boolean>;
  /**
   * Sends a mail now and waits for the reply of the server, at most 30 seconds. Throws RestError 503 `mail_unavailable` if no
   * server is set up, 502 `mail_rejected` if the server refuses the mail for good, and 502 `mail_failed` for all that may
   * succeed later.
   */
  send(message: MailMessage): Promise<MailReceipt>;
  /**
   * Stores the mail, encrypted, and resolves. It is sent in the background, and up to five more times in as many hours if that
   * fails; one node sends it. Inside a transaction it is sent after the commit. A node that stops while the server replies
   * may cause a second copy.
   */
  queue(message: MailMessage, options?: QueuedMail): Promise<void>;
}

/** What the actions about mail receive: never the text, which may contain a secret link. */
export interface MailSummary {
  readonly to: readonly string[];
  readonly subject: string;
}
