export interface SentRequest {
  readonly url: string;
  /** As sent, secret values masked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const masked = '[redacted]';

/**
 * A command for a POSIX shell that sends a request again, byte for byte, with the recorded timestamp and signature. The
 * body comes through a pipe: it may be longer than an argument, and nothing is added to it. A header whose value is not
 * known any more is left for the shell to fill in: `AUTHORIZATION=...` before the command.
 */
export function curlAsSent({ url, headers, body }: SentRequest): string {
  return `${printed(body)} | ${curl(
    url,
    Object.entries(headers).map(([name, value]) => header(name, value)),
  )}`;
}

/** The same with a timestamp and a signature made when it is run: asks for the secret in `SECRET`, and needs openssl. */
export function curlSigned({ url, headers, body }: SentRequest): string {
  const made = /^(x-svc-(timestamp|signature|signature-alg)|webhook-(id|timestamp|signature))$/i;
  const kept = Object.entries(headers)
    .filter(([name]) => !made.test(name))
    .map(([name, value]) => header(name, value));
  return [
    `body() { ${printed(body)}; }`,
    'TIMESTAMP=$(date +%s)',
    `SIGNATURE=$({ printf '%s.' "$TIMESTAMP"; body; } | openssl dgst -sha256 -hmac "\${SECRET:?Set SECRET to the signing secret first}" | sed 's/^.*= *//')`,
    `body | ${curl(url, [...kept, '-H "X-SVC-Timestamp: $TIMESTAMP"', '-H "X-SVC-Signature: sha256=$SIGNATURE"', "-H 'X-SVC-Signature-Alg: sha256'"])}`,
  ].join('\n');
}

function curl(url: string, headers: readonly string[]): string {
  // -g: brackets in an address are meant. `Expect` would be curl's own idea for long bodies.
  return [`curl -sS -i -g -X POST ${quote(url)}`, ...headers, "-H 'Expect:'", '--data-binary @-'].join(' \\\n  ');
}

function header(name: string, value: string): string {
  return value === masked
    ? `-H ${quote(`${name}: `)}"$${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}"`
    : `-H ${quote(`${name}: ${value}`)}`;
}

/** What would change on its way through a browser's clipboard is written as an escape. */
function printed(body: string): string {
  if (!/[\r\0]/.test(body)) return `printf %s ${quote(body)}`;
  return `printf %b ${quote(body.replaceAll('\\', '\\\\').replaceAll('\r', '\\0015').replaceAll('\0', '\\0000'))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
