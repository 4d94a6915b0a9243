import { expect } from 'chai';
import type { AiParams } from '../../../plugins/svc/kit/ai-params.ts';
import { createGenerateText } from '../../../plugins/svc/ai/generate-text.ts';
import type { UsageCounts } from '../../../plugins/svc/ai/ports.ts';
import { ProviderError, type TextResult } from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { answer, scripted, services } from './helpers.ts';

/** What the ledger counts of a call with these attempts. */
async function countsOf(...script: readonly (TextResult | Error)[]): Promise<UsageCounts> {
  return countsWith({}, script);
}

async function countsWith(params: AiParams, script: readonly (TextResult | Error)[]): Promise<UsageCounts> {
  let counts: UsageCounts = { model: '' };
  const ai = await services({ providers: [scripted(...script)] });
  const generateText = createGenerateText({
    ...ai,
    async recordUsage(call) {
      try {
        const result = await call.run();
        counts = await call.count(result);
        return Object.assign(result, { cost: null });
      } catch (error) {
        counts = (await call.countFailed?.()) ?? counts;
        throw error;
      }
    },
  });
  const input = { provider: 'scripted', model: 'm', messages: [{ role: 'user' as const, content: 'Hello.' }], params };
  const done = generateText(input);
  await (script.at(-1) instanceof Error || script.at(-1) === cut ? failureOf(done) : done);
  return counts;
}

const cut = { ...answer, content: '', finish: 'length' as const };
const failed = (kind: ProviderError['kind'], status: number | null, output?: number): ProviderError => {
  const error = new ProviderError({ kind, status, message: 'No.' });
  if (output !== undefined)
    error.reported = { usage: { input_tokens: 11, output_tokens: output, total_tokens: 11 + output } };
  return error;
};

describe('Failed calls', () => {
  it('count what the provider reported', async () => {
    expect(await countsOf(failed('rejected', 200, 500))).to.include({ inputTokens: 11, outputTokens: 500 });
    expect(await countsOf(cut)).to.include({ inputTokens: 1, outputTokens: 2 });
  });

  it('count an estimate of what was sent if the provider may bill it', async () => {
    for (const error of [failed('timeout', null), failed('aborted', null), failed('unreadable', 200)])
      expect((await countsOf(error)).inputTokens).to.be.greaterThan(5);
  });

  it('count the longest response where the provider may have finished one that was not read', async () => {
    const params = { max_completion_tokens: 9_000 };
    const [reset, refused] = [{ code: 'ECONNRESET' }, { code: 'ECONNREFUSED' }].map((cause) =>
      Object.assign(new ProviderError({ kind: 'connection', message: 'No.', cause }), { retryable: false }),
    );
    for (const error of [failed('timeout', null), failed('timeout', 200), failed('aborted', null), reset!]) {
      expect((await countsWith(params, [error])).outputTokens, error.kind).to.equal(9_000);
      expect((await countsOf(error)).outputTokens, error.kind).to.equal(4_096);
    }
    for (const error of [failed('unreadable', 200), failed('rejected', 400), refused!])
      expect((await countsWith(params, [error])).outputTokens, error.kind).to.equal(0);
  });

  it('count the longest response where the provider reported only that it began', async () => {
    const error = failed('aborted', null, 1);
    error.reported = { ...error.reported!, isPartial: true, written: '' };
    expect(await countsOf(error)).to.include({ inputTokens: 11, outputTokens: 4_096 });
    error.reported = { ...error.reported, isPartial: false };
    expect(await countsOf(error)).to.include({ inputTokens: 11, outputTokens: 1 });
  });

  it('count an estimate of a failure within a response that had begun, unless it is a refusal', async () => {
    const inside = (status: number): ProviderError =>
      Object.assign(failed(status === 429 ? 'rate_limited' : 'unavailable', status), { isInside: true });
    const { inputTokens } = await countsOf(failed('timeout', null));
    expect((await countsOf(inside(502), inside(502), inside(502))).inputTokens).to.equal(3 * Number(inputTokens));
    for (const status of [429, 503, 529])
      expect((await countsOf(inside(status), inside(status), inside(status))).inputTokens).to.equal(0);
  });

  it('count nothing of what a status refused', async () => {
    for (const error of [failed('rejected', 400), failed('auth', 401), failed('unavailable', 503)])
      expect((await countsOf(error)).inputTokens).to.equal(0);
  });

  it('count what was written where the provider reported only how the text began', async () => {
    const error = failed('connection', null, 1);
    error.reported = { ...error.reported!, isPartial: true, written: 'Paris is a town, as everyone knows by heart.' };
    const { inputTokens, outputTokens } = await countsOf(error, error, error);
    expect(inputTokens).to.equal(33);
    expect(outputTokens).to.be.within(27, 45);
  });

  it('count what was sent and written where the provider reported 0 of it', async () => {
    const error = failed('connection', null, 0);
    error.reported = { ...error.reported!, written: 'Paris is a town, as everyone knows by heart.' };
    const one = await countsOf(error, answer);
    expect(one.inputTokens).to.equal(12);
    expect(one.outputTokens).to.be.within(11, 17);
    error.reported = { ...error.reported, usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } };
    expect((await countsOf(error, answer)).inputTokens).to.be.greaterThan(6);
    error.reported = { ...error.reported, usage: { input_tokens: 0, output_tokens: 0, total_tokens: 1_500 } };
    const { inputTokens: sent, outputTokens: beyond } = await countsOf(error, answer);
    expect([Number(sent) + Number(beyond), Number(sent) > 6]).to.deep.equal([1_503, true]);
    const thoughts = { input_tokens: 11, output_tokens: 4_000, total_tokens: 4_011 };
    error.reported = { ...error.reported, usage: thoughts, isPartial: true, tokenDetails: { reasoning: 4_000 } };
    expect((await countsOf(error, answer)).outputTokens).to.be.within(4_011, 4_017);
    const zero = { ...answer, usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 }, reportedCost: 0 };
    const { inputTokens, outputTokens, attempts } = await countsOf(zero);
    expect(inputTokens).to.be.greaterThan(5);
    expect(outputTokens).to.be.within(2, 4);
    expect(attempts?.map(({ reportedCost }) => reportedCost)).to.deep.equal([undefined]);
  });

  it('count an estimate of each attempt that may be billed, also before one that succeeded', async () => {
    const one = await countsOf(failed('aborted', null));
    const { inputTokens } = await countsOf(failed('connection', null), failed('connection', null), answer);
    expect(inputTokens).to.equal(2 * Number(one.inputTokens) + 1);
  });

  it('count the reasoning of a text that failed before its first word', async () => {
    const error = failed('unavailable', 502);
    error.reported = { usage: null, written: 'Let me think about it for a while.' };
    expect((await countsOf(error, error, error)).outputTokens).to.be.greaterThan(20);
    error.reported = { usage: null, written: '' };
    expect((await countsOf(error, error, error)).outputTokens).to.equal(0);
  });

  it('count attempts before one that succeeded', async () => {
    expect(await countsOf(failed('unavailable', 200, 9), answer)).to.include({ inputTokens: 12, outputTokens: 11 });
  });
});
