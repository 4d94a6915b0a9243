import type { Socket } from 'node:net';
import { outboundReason, type MailReceipt, type RestError } from '#plugin-api';
import { type CheckedMessage, mailErrors } from './check-message.ts';
import type { SmtpSettings } from './smtp-settings.ts';

export interface SmtpSending {
  readonly settings: Pick<SmtpSettings, 'server' | 'password'>;
  readonly message: CheckedMessage;
  /** Display name of the sender. */
  readonly fromName: string;
  /** Name that this side introduces itself with: the host of the site. */
  readonly clientName: string;
  /** Opens a connection to a checked address. */
  readonly connect: (target: {
    readonly hostname: string;
    readonly port: number;
    readonly timeout: number;
  }) => Promise<Socket>;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /** PEM of a certificate authority to trust. Default: those of Node. */
  readonly ca?: string;
}

/** Milliseconds for the connection, for the greeting, and without any data after it. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 } as const;

/**
 * Sends one mail over a new SMTP connection. nodemailer is loaded at the first call.
 *
 * @throws RestError 502 `mail_rejected` or `mail_failed`.
 */
export async function sendBySmtp(sending: SmtpSending): Promise<MailReceipt> {
  const { settings, message, fromName, clientName, connect, signal, ca } = sending;
  const { server, password } = settings;
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    ...timeouts,
    host: server.host,
    port: server.port,
    secure: server.security === 'tls',
    requireTLS: server.security === 'starttls',
    ignoreTLS: server.security === 'none',
    name: clientName,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(server.user !== '' && { auth: { user: server.user, pass: password ?? '' } }),
    ...(ca !== undefined && { tls: { ca } }),
    getSocket(_options, callback) {
      connect({ hostname: server.host, port: server.port, timeout: timeouts.connectionTimeout }).then(
        (connection) => callback(null, { connection }),
        (error: unknown) => callback(error as Error, false),
      );
    },
  });
  try {
    const { response } = await transport.sendMail({
      from: { name: fromName, address: server.fromEmail },
      to: [...message.to],
      subject: message.subject,
      text: message.text,
      ...(message.html !== undefined && { html: message.html }),
      ...(message.replyTo !== undefined && { replyTo: message.replyTo }),
      signal,
    });
    return { reply: response };
  } catch (error) {
    throw toMailError(error, password);
  } finally {
    transport.close();
  }
}

interface SmtpFailure {
  readonly code?: string;
  readonly message?: string;
  readonly response?: string;
  /** Whether the server refused the mail for good. */
  readonly permanent?: boolean;
}

/** What happened, by nodemailer's code, with the reply of the server behind it. */
const sentences: Readonly<Record<string, string>> = {
  EAUTH: 'The mail server refused the user name or the password',
  ENOAUTH: 'The mail server asks for a user name and a password',
  ETLS: 'The connection to the mail server could not be encrypted',
  ETIMEDOUT: 'The mail server did not respond in time',
  EABORT: 'The mail server did not respond in time',
  ECONNECTION: 'The mail server closed the connection',
  ESOCKET: 'The connection to the mail server failed',
  EPROTOCOL: 'The mail server sent a reply that is not SMTP',
};

function toMailError(error: unknown, password: string | null): RestError {
  const { code = '', message = String(error), response, permanent } = error as SmtpFailure;
  const reply = withoutPassword(response ?? outboundReason(error) ?? message, password);
  // A refused sign-in may succeed once the settings are corrected, so it counts as temporary.
  if (permanent === true && (code === 'EENVELOPE' || code === 'EMESSAGE'))
    return mailErrors.mail_rejected({ values: { reason: reply }, cause: error });
  const sentence = sentences[code];
  return mailErrors.mail_failed({
    values: { reason: sentence === undefined ? reply : `${sentence}: ${reply}` },
    cause: error,
  });
}

/** A server may repeat what it was sent. */
function withoutPassword(text: string, password: string | null): string {
  const line = text.replace(/\p{Cc}+/gu, ' ').slice(0, 500);
  return password === null || password === '' ? line : line.replaceAll(password, '[redacted]');
}
