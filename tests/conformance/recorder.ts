import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSystemClock } from '../../host/clock.ts';
import { ProviderError, type Provider, type ProviderSettings } from '../../plugins/svc/providers/provider.ts';
import { silentLog } from '../helpers/silent-log.ts';

/** One request to a vendor and the response to it, as they were sent but for what `withoutSecrets` removes. */
export interface RecordedExchange {
  /** What was asked for. */
  readonly name: string;
  readonly method: string;
  /** Below the origin, with the query. */
  readonly path: string;
  readonly request: string | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly response: string;
}

/** `tests/fixtures/providers/recorded/<id>.json`. */
export interface Recording {
  readonly provider: string;
  readonly model: string;
  /** Path of the base URL. */
  readonly base: string;
  /** `YYYY-MM-DD`. */
  readonly recordedOn: string;
  readonly exchanges: readonly RecordedExchange[];
}

/** Headers of responses that say something of the format, and nothing of the account. */
const recordedHeaders = ['content-type', 'retry-after', 'retry-after-ms'];

const removed = '[removed]';
/** What vendors write of an account: keys, also masked, and ids of organizations, projects and users. */
const ofAccounts = /\b(?:sk|rk|pk|xai|gsk|AIza|org|proj|user|acct|team)[-_][\w*-]{6,}|\bAIza[\w-]{10,}/g;

export interface RecordInit {
  readonly provider: Provider;
  readonly settings: ProviderSettings;
  readonly model: string;
  readonly fetch?: typeof globalThis.fetch;
}

/**
 * Sends what the product sends to a vendor, and records what the vendor returns: the models, a text, a stream, and the refusal
 * of a model that does not exist.
 *
 * @throws if a request fails that should not, or if a secret is left in what would be written
 */
export async function record({ provider, settings, model, fetch = globalThis.fetch }: RecordInit): Promise<Recording> {
  const exchanges: RecordedExchange[] = [];
  let name = '';
  const connection = {
    settings,
    clock: createSystemClock(),
    log: silentLog,
    timeout: 120_000,
    fetch: (async (input, init) => {
      const request = new Request(input, init);
      const sent = request.body === null ? null : await request.clone().text();
      const response = await fetch(request);
      const text = await response.clone().text();
      const { pathname, search } = new URL(request.url);
      exchanges.push({
        ...{ name, method: request.method, path: pathname + search, request: sent, status: response.status },
        headers: Object.fromEntries([...response.headers].filter(([header]) => recordedHeaders.includes(header))),
        response: text,
      });
      return response;
    }) as typeof globalThis.fetch,
  };
  const question = (of: string) => ({
    ...{ model: of, system: 'Answer in one word.', params: {} },
    messages: [{ role: 'user' as const, content: 'Say hello in French.' }],
  });
  name = 'models';
  await provider.listModels(connection);
  name = 'text';
  await provider.text?.generate(question(model), connection);
  name = 'stream';
  await provider.text?.stream?.(question(model), connection, () => undefined);
  name = 'unknown model';
  await provider.text?.generate(question('no-such-model'), connection).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
  });
  const recordedOn = new Date().toISOString().slice(0, 10);
  const base = new URL(String(settings['base_url'])).pathname.replace(/\/$/, '');
  return withoutSecrets({ provider: provider.id, model, base, recordedOn, exchanges }, settings);
}

/** @throws if a value of the settings other than an address of the vendor's is still in it. */
function withoutSecrets(recording: Recording, settings: ProviderSettings): Recording {
  const secrets = Object.entries(settings).flatMap(([name, value]) =>
    typeof value === 'string' && value.length >= 4 && /key|secret|token|password/.test(name) ? [value] : [],
  );
  const clean = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, removed), text).replace(ofAccounts, removed);
  const exchanges = recording.exchanges.map((exchange) => ({
    ...exchange,
    path: clean(exchange.path),
    request: exchange.request === null ? null : clean(exchange.request),
    response: clean(exchange.response),
  }));
  const cleaned = { ...recording, exchanges };
  const text = JSON.stringify(cleaned);
  for (const secret of secrets)
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')])
      if (text.includes(form)) throw new Error('A secret is left in what was recorded. Nothing was written.');
  return cleaned;
}

/** A server that responds to each recorded request as the vendor did. */
export async function replay(
  recording: Recording,
): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks).toString();
      const found = recording.exchanges.find(
        ({ method, path, request: body }) => method === request.method && path === request.url && (body ?? '') === sent,
      );
      if (found === undefined) return void response.writeHead(501).end('This request was not recorded.');
      response.writeHead(found.status, found.headers).end(found.response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
