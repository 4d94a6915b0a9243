import { randomUUID } from 'node:crypto';

/** A visitor of the widget, at an address of its own. */
export interface WidgetVisitor {
  /** Sends a message. Resolves when the first token is there, with what took each token from the upstream to here in milliseconds as they come. */
  send(text: string): Promise<{ readonly first: number; readonly rest: Promise<readonly number[]>; close(): void }>;
}

/** @param root REST root of the site. @param number of the visitor: each counts against limits of its own. */
export async function openVisitor(root: string, bot: number, number: number): Promise<WidgetVisitor> {
  const headers = {
    'content-type': 'application/json',
    'x-forwarded-for': `203.0.${String(number >> 8)}.${String(number & 255)}`,
  };
  const base = `${root}/svc-widget/v1/bots/${String(bot)}`;
  const started = await fetch(`${base}/start`, { method: 'POST', headers, body: JSON.stringify({ new: true }) });
  if (started.status !== 200)
    throw new Error(`The widget's start answered ${String(started.status)}: ${await started.text()}`);
  const { token } = (await started.json()) as { token: string };
  return {
    async send(text) {
      const controller = new AbortController();
      const body = JSON.stringify({ token, message_id: randomUUID(), text });
      const answer = await fetch(`${base}/messages`, {
        method: 'POST',
        headers: { ...headers, accept: 'text/event-stream' },
        body,
        signal: controller.signal,
      });
      if (answer.status !== 200 || answer.body === null)
        throw new Error(`The widget's send answered ${String(answer.status)}: ${await answer.text()}`);
      const times = latencies(answer.body);
      const { value: first } = await times.next();
      if (first === undefined) throw new Error('The answer ended without a token.');
      return {
        first,
        rest: collect(times),
        close: () => {
          controller.abort();
        },
      };
    },
  };
}

/** The same tokens without anything in between: what the machine itself takes. */
export async function straight(upstream: string): Promise<readonly number[]> {
  const { times } = await openCompletion(
    { url: `${upstream}/v1`, headers: {}, model: 'gpt-4.1-mini' },
    'Count to ten.',
  );
  return times;
}

export interface CompletionTarget {
  /** Base URL of chat completions. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
}

/** A streamed chat completion: what took each token from the upstream to here, in milliseconds, once it ends or is closed. */
export async function openCompletion(
  { url, headers, model }: CompletionTarget,
  content: string,
): Promise<{ readonly times: Promise<readonly number[]>; close(): void }> {
  const controller = new AbortController();
  const answer = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content }] }),
    signal: controller.signal,
  });
  if (!answer.ok || answer.body === null)
    throw new Error(`${url} answered ${String(answer.status)}: ${(await answer.text()).slice(0, 500)}`);
  return { times: collect(latencies(answer.body)), close: () => controller.abort() };
}

async function collect(times: AsyncGenerator<number, void>): Promise<number[]> {
  const all: number[] = [];
  try {
    for await (const time of times) all.push(time);
  } catch {
    // It was closed here.
  }
  return all;
}

/** Milliseconds from each token's sending to its arrival. */
async function* latencies(body: ReadableStream<Uint8Array>): AsyncGenerator<number, void> {
  let text = '';
  for await (const bytes of body as unknown as AsyncIterable<Uint8Array>) {
    const now = process.hrtime.bigint();
    text += Buffer.from(bytes).toString();
    const end = text.lastIndexOf('\n\n');
    if (end < 0) continue;
    // The whole text stands once more in the last event, and in that of errors nothing of it.
    const events = text
      .slice(0, end)
      .split('\n\n')
      .filter((event) => /^(event: delta|data:)/.test(event));
    const error = text
      .slice(0, end)
      .split('\n\n')
      .find((event) => event.startsWith('event: error'));
    if (error !== undefined) throw new Error(error);
    text = text.slice(end + 2);
    for (const event of events)
      for (const [, sent = '0'] of event.matchAll(/@(\d+)@/g)) yield Number(now - BigInt(sent)) / 1e6;
  }
}
