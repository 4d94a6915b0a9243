import { isEmail, type MailMessage, type RestError, defineErrors } from '#plugin-api';

/** The errors of sending mail. `reason` may contain the reply of the mail server, never the password. */
export const mailErrors = defineErrors('', {
  mail_invalid: [400, '{reason}'],
  mail_unavailable: [503, 'No mail server is set up. Enter one under System, Mail.'],
  mail_password_unreadable: [
    503,
    'The saved password of the mail server cannot be read with this SECRET_KEY. ' +
      'Restore the key, or enter the password again under System, Mail.',
  ],
  mail_rejected: [502, 'The mail server refused the mail: {reason}'],
  mail_failed: [502, 'The mail was not sent. {reason}'],
});

/** A validated mail. */
export interface CheckedMessage extends MailMessage {
  readonly to: readonly string[];
}

const limits = { recipients: 50, subject: 255, text: 500_000 } as const;

/**
 * Validates a mail and drops unknown members. Nothing that reaches a header contains a line break or another control
 * character, so that no text can add a header or a recipient.
 *
 * @throws RestError 400 `mail_invalid`.
 */
export function checkMessage(message: MailMessage): CheckedMessage {
  const { subject, text, html, replyTo } = message;
  const to = typeof message.to === 'string' ? [message.to] : [...message.to];
  const bad = to.find((address) => typeof address !== 'string' || !isEmail(address));
  if (to.length === 0) throw invalid('Enter a recipient.');
  if (to.length > limits.recipients) throw invalid(`Send to at most ${limits.recipients} recipients at once.`);
  if (bad !== undefined) throw invalid(`'${printable(bad)}' is not an email address.`);
  if (!isLine(subject, limits.subject))
    throw invalid(`Enter a subject of one line with 1 to ${limits.subject} characters.`);
  if (typeof text !== 'string' || text.trim() === '' || text.length > limits.text)
    throw invalid(`Enter a text of 1 to ${limits.text} characters.`);
  if (html !== undefined && (typeof html !== 'string' || html.length > limits.text))
    throw invalid(`Enter HTML of at most ${limits.text} characters.`);
  if (replyTo !== undefined && !isEmail(replyTo)) throw invalid(`'${printable(replyTo)}' is not an email address.`);
  return { to, subject, text, ...(html !== undefined && { html }), ...(replyTo !== undefined && { replyTo }) };
}

/** Whether the value is text of one line without control characters. */
export function isLine(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= maxLength && !/\p{Cc}/u.test(value);
}

function printable(value: unknown): string {
  return String(value)
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, 100);
}

function invalid(reason: string): RestError {
  return mailErrors.mail_invalid({ values: { reason } });
}
