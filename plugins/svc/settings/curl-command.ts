export interface CurlExample {
  /** Address of `POST /generate`. */
  readonly url: string;
  readonly key: string;
  readonly provider: string;
  readonly model: string;
}

/** A command that asks for a text, ready to be pasted into a POSIX shell. Holds the key: for pages that are shown once. */
export function curlCommand({ url, key, provider, model }: CurlExample): string {
  const body = JSON.stringify({ provider, model, messages: [{ role: 'user', content: 'Say hello in one sentence.' }] });
  return [
    `curl -sS ${quote(url)}`,
    `-H ${quote(`Authorization: Bearer ${key}`)}`,
    `-H 'Content-Type: application/json'`,
    `-d ${quote(body)}`,
  ].join(' \\\n  ');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
