import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  /** Envelope recipients. */
  readonly to: readonly string[];
  /** Unfolded headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly isSecure: boolean;
  readonly user: string | undefined;
  readonly raw: string;
  /** The first URL of the text. */
  readonly link: string;
}

export interface SmtpReceiver {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Connections so far. */
  connections(): number;
  /** Waits until `count` mails have arrived, and returns the last of them. */
  next(count: number): Promise<ReceivedMail>;
  /** Refuses every mail with this SMTP code and text until it is null. */
  refusal: { readonly code: number; readonly text: string } | null;
  stop(): Promise<void>;
}

/** A real SMTP server on a free loopback port. By default it neither encrypts nor asks for a sign-in. */
export async function startSmtpReceiver(options: SMTPServerOptions = {}): Promise<SmtpReceiver> {
  const mails: ReceivedMail[] = [];
  const waiting = new Set<() => void>();
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onConnect: (_session, done) => {
      connections += 1;
      done();
    },
    onMailFrom: (_address, _session, done) => {
      const { refusal } = receiver;
      done(refusal === null ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const from = session.envelope.mailFrom;
        mails.push({
          ...parseMail(Buffer.concat(chunks).toString('latin1')),
          from: from === false ? '' : from.address,
          to: session.envelope.rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user as string | undefined,
        });
        done(null, 'stored as 7');
        for (const wake of waiting) wake();
      });
    },
    ...options,
  });
  // A client that breaks off is not an error of the receiver.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: SmtpReceiver = {
    port: (server.server.address() as AddressInfo).port,
    mails,
    connections: () => connections,
    refusal: null,
    next: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          const mail = mails[count - 1];
          if (mail === undefined) return;
          waiting.delete(look);
          resolve(mail);
        };
        waiting.add(look);
        look();
      }),
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return receiver;
}

type Content = Pick<ReceivedMail, 'headers' | 'subject' | 'text' | 'html' | 'raw' | 'link'>;

function parseMail(raw: string): Content {
  const { headers, body } = splitPart(raw);
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1];
  const parts = boundary === undefined ? [{ headers, body }] : body.split(`--${boundary}`).slice(1, -1).map(splitPart);
  const find = (type: string): string => {
    const part = parts.find((each) => each.headers['content-type']?.startsWith(type));
    return part === undefined ? '' : decodeBody(part.body, part.headers['content-transfer-encoding'] ?? '');
  };
  const text = find('text/plain');
  return {
    raw,
    headers,
    subject: decodeWords(headers['subject'] ?? ''),
    text,
    html: find('text/html'),
    link: /https?:\S+/.exec(text)?.[0] ?? '',
  };
}

function splitPart(raw: string): { headers: Record<string, string>; body: string } {
  const trimmed = raw.replace(/^\r\n/, '');
  const end = trimmed.indexOf('\r\n\r\n');
  const lines = trimmed
    .slice(0, end)
    .replace(/\r\n[ \t]/g, ' ')
    .split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { headers, body: trimmed.slice(end + 4) };
}

function decodeBody(body: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  return encoding === 'quoted-printable' ? decodeQuoted(body.replace(/=\r\n/g, '')) : fromLatin(body);
}

function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_whole, kind: string, value: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(value, 'base64').toString('utf8')
        : decodeQuoted(value.replaceAll('_', ' ')),
    );
}

function decodeQuoted(text: string): string {
  return fromLatin(text.replace(/=([0-9A-F]{2})/gi, (_whole, hex: string) => String.fromCharCode(parseInt(hex, 16))));
}

function fromLatin(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8').replace(/\r\n/g, '\n').trim();
}
