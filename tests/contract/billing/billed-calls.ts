import { createFakeClock, type TestHost } from '#testing';
import { createMigratedHost } from '../../helpers/migrated.ts';
import type { Random } from '../../fuzz/random.ts';
import { restKey } from '../service.ts';
import { startVendors, type Bill, type Ending } from './vendor-server.ts';
import { vendors, type Counted, type Vendor, type VendorText } from './vendors.ts';

export type BilledSite = Awaited<ReturnType<typeof openBilledSite>>;

/** A site whose providers are the vendors, with their list prices and a budget that no call exceeds. */
export async function openBilledSite(database: string) {
  const server = await startVendors();
  const clock = createFakeClock({ skipSleeps: true });
  const host = await createMigratedHost({ plugins: ['svc'], clock, database });
  host.hooks.addFilter('svc_provider_settings', (saved: Readonly<Record<string, unknown>>, id: string) => ({
    ...saved,
    // A vendor with two interfaces is there twice: that of the call counts.
    ...[server.call?.vendor, ...vendors].find((vendor) => vendor?.id === id)?.settings(server.origin),
  }));
  await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
  const firsts = vendors.filter(({ id }, index) => vendors.findIndex((vendor) => vendor.id === id) === index);
  const prices = firsts.flatMap(({ id, prices: list, longPrices }) => {
    const { from, ...long } = longPrices ?? { from: 0 };
    const price = { provider: id, model: '*' };
    return [{ ...price, ...list }, ...(from > 0 ? [{ ...price, ...long, min_input_tokens: from }] : [])];
  });
  await host.options.update('svc_prices', prices);
  const budgets = ['dollars', 'tokens', 'calls'].map((unit) => ({ id: unit, name: unit, unit, amount: 1_000_000_000 }));
  for (const budget of budgets) await host.cli('svc', 'budget', 'set', JSON.stringify(budget));
  const listener = await createListener(host.database);
  return {
    host,
    clock,
    server,
    /** Three seconds. */
    async moveOn() {
      await clock.advance(3_000);
      await listener.hasResponded();
    },
    async stop() {
      listener.undo();
      await host.stop();
      await server.stop();
    },
  };
}

/** The site gives its connections up when the clock moves on by four seconds while the one that listens is waited for. */
async function createListener(database: TestHost['database']) {
  let responded = (): void => undefined;
  const undo = await database.listen('tests_billed', () => responded());
  return {
    undo,
    hasResponded: () =>
      new Promise<void>((resolve, reject) => {
        responded = resolve;
        database.notify('tests_billed', '').catch(reject);
      }),
  };
}

/** A call that was made, with what its vendor charges. */
export interface BilledCall {
  readonly vendor: Vendor;
  /** As the vendor named it. */
  readonly model: string;
  readonly endings: readonly Ending[];
  readonly bills: readonly Bill[];
  /** For the message of a failure. */
  readonly title: string;
}

/**
 * Makes one call that ends at random: through `POST svc/v1/generate`, or streamed through the OpenAI-compatible routes.
 * Resolves after the response, or the disconnection.
 */
export async function makeBilledCall(
  { host, moveOn, server }: BilledSite,
  {
    vendor,
    isStreamed,
    number,
    random,
  }: { readonly vendor: Vendor; readonly isStreamed: boolean; readonly number: number; readonly random: Random },
): Promise<BilledCall> {
  // Few names, so that models are known again; many calls apart, because the row of an aborted call may come later.
  const model = `${vendor.model}-c${String(number % 50)}`;
  const endings = Array.from({ length: 3 }, () => randomEnding(vendor, { model, isStreamed, random }));
  const gone = new AbortController();
  const isAbort = random.once(2);
  const seen = createSeen();
  let isOver = false;
  const onPause = (text: string): void => {
    // What was sent last is read when its text has come out again; a text that is held back does not.
    void (vendor.isHeldBack === true || text === '' ? Promise.resolve() : seen.until(text)).then(async () => {
      if (isAbort) gone.abort();
      else while (!isOver) await moveOn();
    });
  };
  const bills: Bill[] = [];
  let answer = '';
  server.call = { vendor, endings, bills, onPause };
  const [path, body] = isStreamed
    ? ['svc-openai/v1/chat/completions', { model: `${vendor.id}/${model}`, stream: true }]
    : ['svc/v1/generate', { provider: vendor.id, model }];
  const messages = [{ role: 'user', content: `Say something about the number ${String(number)}.` }];
  try {
    const response = await host.fetch(`/wp-json/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ ...body, messages }),
      signal: gone.signal,
    });
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) {
      const piece = decoder.decode(part as Uint8Array, { stream: true });
      answer += piece;
      seen.take(piece);
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
  isOver = true;
  const title = `${vendor.id} ${isStreamed ? 'streamed' : 'whole'} ${String(number)}: ${JSON.stringify({ endings, bills, isAbort })} ${answer.slice(0, 500)}`;
  return { vendor, model, endings, bills, title };
}

/** The text of a stream as its client sees it. */
function createSeen() {
  let raw = '';
  let text = '';
  let waiting: { readonly text: string; readonly resolve: () => void } | null = null;
  const check = (): void => {
    if (waiting !== null && text.includes(waiting.text)) waiting.resolve();
  };
  return {
    take(part: string): void {
      raw += part;
      const lines = raw.split('\n');
      raw = lines.pop() ?? '';
      for (const data of lines.filter((one) => one.startsWith('data: {')).map((one) => one.slice('data: '.length))) {
        const { choices = [] } = JSON.parse(data) as { choices?: { delta?: { content?: string } }[] };
        text += choices[0]?.delta?.content ?? '';
      }
      check();
    },
    until: (wanted: string): Promise<void> =>
      new Promise((resolve) => {
        waiting = { text: wanted, resolve };
        check();
      }),
  };
}

const words = ['Paris ', 'is ', 'a ', 'town, ', 'as ', '日本 ', 'knows ', '🌍', 'and\n', 'by heart. '] as const;

interface EndingInit {
  readonly model: string;
  readonly isStreamed: boolean;
  readonly random: Random;
}

function randomEnding(vendor: Vendor, { model, isStreamed, random }: EndingInit): Ending {
  const kind = random.pick(['text', 'text', 'text', 'text', 'cut', 'pause', 'error', 'status', 'unreadable'] as const);
  if (kind === 'status') return { kind, status: random.pick([400, 401, 402, 404, 429, 500, 503, 529]) };
  if (kind === 'unreadable') return { kind };
  const finish = random.pick(['stop', 'stop', 'length', 'content_filter', 'refusal', 'odd'] as const);
  const isEmpty = finish === 'refusal' || random.once(4);
  const text: VendorText = {
    model,
    pieces: isEmpty ? [] : Array.from({ length: 1 + random.below(6) }, () => random.pick(words)),
    finish,
    counted: random.once(6) ? null : randomUsage(vendor, random),
  };
  if (kind === 'text' || (kind === 'error' && !isStreamed)) return { kind: 'text', text };
  if (!isStreamed) return { kind, text, sent: random.below(2) };
  const events = vendor.stream(text);
  const isRead = (sent: number): boolean => sent === 0 || events[sent - 1]?.text !== undefined;
  // A pause is after a piece of text, which shows when everything before it was read.
  const choices = Array.from({ length: events.length }, (_, sent) => sent).filter(
    (sent) => kind !== 'pause' || isRead(sent),
  );
  return { kind, text, sent: random.pick(choices) };
}

function randomUsage({ kinds, reportsCost = false }: Vendor, random: Random): Counted {
  const count = (kind: Vendor['kinds'][number], most: number): number =>
    kinds.includes(kind) && random.once(2) ? random.below(most) : 0;
  const [cached, written] = [count('cached', 9_000), count('written', 9_000)];
  const reasoning = count('reasoning', 900);
  return {
    cached,
    written,
    reasoning,
    input: cached + written + 1 + random.below(9_000),
    output: reasoning + 1 + random.below(900),
    ...(reportsCost && { cost: random.below(90_000_000) }),
  };
}
