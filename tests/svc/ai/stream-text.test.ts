import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { createGenerateText, type GenerateTextInput } from '../../../plugins/svc/ai/generate-text.ts';
import { createRecordUsage } from '../../../plugins/svc/modules/usage/record-usage.ts';
import type { UsageRecord } from '../../../plugins/svc/modules/usage/ledger/usage-record.ts';
import { ProviderError, type Provider, type TextResult } from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { answer, overloaded, scripted, services } from './helpers.ts';
import { silentLog } from '../../helpers/silent-log.ts';

/** What one try streams before it answers or fails. */
interface Try {
  readonly pieces: readonly string[];
  readonly end: TextResult | Error;
}

function streaming(...tries: readonly Try[]): Provider & { count: number } {
  const provider = scripted(answer);
  const made = {
    ...provider,
    count: 0,
    text: {
      ...provider.text!,
      stream: (...[, , onText]: Parameters<NonNullable<NonNullable<Provider['text']>['stream']>>) => {
        made.count += 1;
        const { pieces, end } = tries[made.count - 1]!;
        for (const piece of pieces) onText(piece);
        return end instanceof Error ? Promise.reject(end) : Promise.resolve(end);
      },
    },
  };
  return made;
}

const cut = new ProviderError({ kind: 'connection', message: 'its response ended early.' });

/** Runs a call, with its pieces and what the ledger noted of it. */
async function run(provider: Provider, input: Partial<GenerateTextInput> = {}) {
  const pieces: string[] = [];
  const noted: UsageRecord[] = [];
  let tell: () => void = () => undefined;
  const recorded = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const ledger = {
    record: (usage: UsageRecord) => {
      noted.push(usage);
      tell();
    },
    price: () => Promise.resolve({ cost: 7, sandbox: false }),
    settle: () => Promise.resolve(),
  };
  const ai = await services({ providers: [provider] });
  const generateText = createGenerateText({
    ...ai,
    recordUsage: createRecordUsage({ clock: ai.clock, log: silentLog, ledger }),
  });
  const call = {
    provider: 'scripted',
    model: 'model',
    messages: [{ role: 'user' as const, content: 'Hello.' }],
    onText: (piece: string) => void pieces.push(piece),
  };
  const done = generateText({ ...call, ...input });
  return { done, pieces, noted, recorded };
}

describe('Generating text in pieces', () => {
  it('hands the pieces on and answers the whole', async () => {
    const { done, pieces, noted } = await run(streaming({ pieces: ['Bon', '', 'jour.'], end: answer }));
    expect((await done).content).to.equal('Bonjour.');
    expect(pieces).to.deep.equal(['Bon', 'jour.']);
    expect(noted.map(({ outcome, inputTokens, outputTokens }) => [outcome, inputTokens, outputTokens])).to.deep.equal([
      ['ok', 1, 2],
    ]);
  });

  it('gives one piece at the end where the provider cannot stream', async () => {
    const { done, pieces } = await run(scripted(overloaded, answer));
    expect([(await done).content, pieces]).to.deep.equal(['Bonjour.', ['Bonjour.']]);
  });

  it('gives no piece of an empty answer', async () => {
    const { done, pieces } = await run(scripted({ ...answer, content: '' }));
    expect([(await done).content, pieces]).to.deep.equal(['', []]);
  });

  it('hands on what a stream kept for its end', async () => {
    const { done, pieces } = await run(streaming({ pieces: ['Bon'], end: answer }));
    expect([(await done).content, pieces]).to.deep.equal(['Bonjour.', ['Bon', 'jour.']]);
  });

  it('does not stream for a caller who wants the whole', async () => {
    const provider = streaming();
    const { done } = await run(provider, { onText: undefined });
    expect([(await done).content, provider.count]).to.deep.equal(['Bonjour.', 0]);
  });

  it('tries again before the first piece', async () => {
    const provider = streaming(
      { pieces: [], end: overloaded },
      { pieces: [''], end: cut },
      { pieces: ['Bonjour.'], end: answer },
    );
    const { done, pieces } = await run(provider);
    expect([(await done).content, pieces, provider.count]).to.deep.equal(['Bonjour.', ['Bonjour.'], 3]);
  });

  it('does not try again after it, and counts what there was', async () => {
    const provider = streaming({ pieces: ['Bonjour, ', 'mes amis'], end: cut }, { pieces: ['Again'], end: answer });
    const { done, pieces, noted, recorded } = await run(provider);
    const error = (await failureOf(done)) as RestError;
    expect([error.code, error.status, pieces, provider.count]).to.deep.equal([
      'rest_svc_provider_error',
      502,
      ['Bonjour, ', 'mes amis'],
      1,
    ]);
    await recorded;
    expect(noted.map(({ outcome, model }) => [outcome, model])).to.deep.equal([['rest_svc_provider_error', 'model']]);
    expect(noted[0]?.outputTokens).to.be.within(3, 8);
    expect(noted[0]?.inputTokens).to.be.within(5, 20);
  });

  it('counts what came before its caller gave up', async () => {
    const aborted = new ProviderError({ kind: 'aborted', message: 'the request was given up.' });
    const { done, noted, recorded } = await run(streaming({ pieces: ['Bonjour'], end: aborted }));
    expect(((await failureOf(done)) as RestError).code).to.equal('rest_svc_request_aborted');
    await recorded;
    expect(noted[0]?.outputTokens).to.be.greaterThan(0);
  });

  it('counts nothing of a call that failed before its first piece', async () => {
    const { done, noted, recorded } = await run(
      streaming({ pieces: [], end: new ProviderError({ kind: 'rejected', status: 400, message: 'No.' }) }),
    );
    await failureOf(done);
    await recorded;
    expect(noted.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).to.deep.equal([[0, 0]]);
  });

  it('counts the tokens itself where the stream told none', async () => {
    const { done } = await run(streaming({ pieces: ['Bonjour.'], end: { ...answer, usage: null } }));
    const { usage, usageEstimated } = await done;
    expect([usageEstimated, usage.total_tokens]).to.deep.equal([true, usage.input_tokens + usage.output_tokens]);
  });
});
