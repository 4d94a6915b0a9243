import { quote } from '../../settings/example-model.ts';

export interface SentRequest {
  readonly url: string;
  /** As sent, secret values masked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const masked = '[redacted]';

/**
 * Returns a command for POSIX shells that repeats a request byte for byte, with the recorded timestamp and signature. The
 * body is piped, because it may exceed the maximum length of an argument. A header whose value is redacted becomes a shell
 * variable: `AUTHORIZATION=...` before the command.
 */
export function curlAsSent({ url, headers, body }: SentRequest): string {
  return `${printed(body)} | ${curl(
    url,
    Object.entries(headers).map(([name, value]) => header(name, value)),
  )}`;
}

/** The same with a new timestamp and signature at run time. Needs openssl and the secret in `SECRET`. */
export function curlSigned({ url, headers, body }: SentRequest): string {
  const perRequest = /^(x-svc-(timestamp|signature|signature-alg)|webhook-(id|timestamp|signature))$/i;
  const unchanged = Object.entries(headers)
    .filter(([name]) => !perRequest.test(name))
    .map(([name, value]) => header(name, value));
  return [
    `body() { ${printed(body)}; }`,
    'TIMESTAMP=$(date +%s)',
    `SIGNATURE=$({ printf '%s.' "$TIMESTAMP"; body; } | ` +
      `openssl dgst -sha256 -hmac "\${SECRET:?Set SECRET to the signing secret first}" | sed 's/^.*= *//')`,
    `body | ${curl(url, [
      ...unchanged,
      '-H "X-SVC-Timestamp: $TIMESTAMP"',
      '-H "X-SVC-Signature: sha256=$SIGNATURE"',
      "-H 'X-SVC-Signature-Alg: sha256'",
    ])}`,
  ].join('\n');
}

function curl(url: string, headers: readonly string[]): string {
  // -g: take brackets in the URL literally. Expect: curl would add this header for long bodies.
  return [`curl -sS -i -g -X POST ${quote(url)}`, ...headers, "-H 'Expect:'", '--data-binary @-'].join(' \\\n  ');
}

function header(name: string, value: string): string {
  return value === masked
    ? `-H ${quote(`${name}: `)}"$${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}"`
    : `-H ${quote(`${name}: ${value}`)}`;
}

/** Escapes characters that a browser's clipboard would change. */
function printed(body: string): string {
  if (!/[\r\0]/.test(body)) return `printf %s ${quote(body)}`;
  return `printf %b ${quote(body.replaceAll('\\', '\\\\').replaceAll('\r', '\\0015').replaceAll('\0', '\\0000'))}`;
}
