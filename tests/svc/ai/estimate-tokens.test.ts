import { expect } from 'chai';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DocumentError, type DocumentsApi } from '#plugin-api';
import {
  createPromptCount,
  estimateText,
  estimateTokens,
  estimateUsage,
} from '../../../plugins/svc/ai/estimate-tokens.ts';
import { sampleOf } from '../../../plugins/svc/ai/sample-texts.ts';
import { documents } from '../../helpers/documents.ts';

const host = { documents };
const busy: DocumentsApi = { read: () => Promise.reject(new DocumentError('Busy.', 'busy')) };

/** Letters that follow no pattern, the same in every run. */
function scrambled(length: number, letters: (index: number) => string): string {
  let state = 1;
  return Array.from({ length }, () => letters((state = (state * 48_271) % 2_147_483_647))).join('');
}

const chinese = scrambled(20_000, (index) => String.fromCharCode(0x4e00 + (index % 20_000)));

/** Texts without a break, and what they count in o200k. */
const texts: Readonly<Record<string, readonly [texts: readonly string[], least: number, most: number]>> = {
  'a message of 31,000 times 日': [['日'.repeat(31_000)], 15_400, 15_700],
  '40,000 times 日': [['日'.repeat(40_000)], 19_900, 20_300],
  '60,000 times x': [['x'.repeat(60_000)], 7_400, 7_700],
  '1,000,000 times x': [['x'.repeat(1_000_000)], 124_000, 126_000],
  '300,000 times 日': [['日'.repeat(300_000)], 149_000, 152_000],
  '15 texts of 20,000 times 日': [Array<string>(15).fill('日'.repeat(20_000)), 149_000, 152_000],
  '100,000 times =': [['='.repeat(100_000)], 1_400, 1_700],
  '100,000 line breaks': [['\n'.repeat(100_000)], 6_000, 7_000],
  '100,000 letters of DNA': [[scrambled(100_000, (index) => 'ACGT'.charAt(index % 4))], 45_000, 60_000],
  'slashes and line breaks in turn': [['/\n'.repeat(50_000)], 45_000, 55_000],
  '10 texts of 20,000 Chinese characters': [Array<string>(10).fill(chinese), 370_000, 390_000],
  'one text of 20,000 Chinese characters': [[chinese], 37_000, 39_000],
};

describe('estimates of tokens', function () {
  this.timeout(60_000);

  // Loads the tokenizer.
  before(() => estimateTokens(['text'], host));

  for (const [name, [given, least, most]] of Object.entries(texts))
    it(`count ${name} without blocking the process`, async () => {
      const delay = monitorEventLoopDelay({ resolution: 10 });
      delay.enable();
      expect(await estimateTokens(given, host)).to.be.within(least, most);
      delay.disable();
      // Blocked for 2.8 s to minutes, depending on the text, if a run is counted as one.
      expect(delay.max / 1e6).to.be.lessThan(2_000);
    });

  it('sample the whole text if no thread counts it', async () => {
    const prose = 'The quick brown fox jumps over the lazy dog. '.repeat(4_000);
    const mixed = [prose, '日'.repeat(180_000)];
    const exact = await estimateTokens(mixed, host);
    const sampled = await estimateTokens(mixed, { documents: busy });
    expect(sampled / exact).to.be.within(0.95, 1.1);
  });

  it('count prompt, tools and response of a call in the same way', async () => {
    const request = {
      system: '日'.repeat(30_000),
      messages: [{ role: 'user' as const, content: 'x'.repeat(60_000) }],
      tools: [{ name: 'weather', parameters: { type: 'object', description: '='.repeat(50_000) } }],
      params: {},
    };
    const usage = await estimateUsage(request, '\n'.repeat(100_000), host);
    expect(usage.input_tokens).to.be.within(23_000, 24_000);
    expect(usage.output_tokens).to.be.within(6_000, 7_000);
    expect((await estimateText(request, createPromptCount(request, host))).inputTokens).to.equal(usage.input_tokens);
  });

  it('count the largest body of a native request without blocking the process', async () => {
    const prose = 'The quick brown fox jumps over the lazy dog. '.repeat(50_000);
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(12_000_000)}` } };
    const file = { type: 'file', file: { file_data: `data:application/pdf;base64,${'A'.repeat(4_000_000)}` } };
    const content = [{ type: 'text', text: prose }, image, file];
    const x = Array.from({ length: 90 }, () =>
      Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`m${at}`, at])),
    );
    const body = { model: 'm', messages: [{ role: 'user', content }], x };
    const native = { format: 'chat', body, given: [] } as const;
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const count = await createPromptCount({ system: null, messages: [], native }, host)();
    delay.disable();
    // The text, the members, the image and the file.
    const least = 500_000 + 81_000 * 4 + 1_600 + 1_000_000;
    expect(count).to.be.within(least, least * 1.3);
    expect(delay.max / 1e6).to.be.lessThan(2_000);
  });

  it('count an image by what it costs at most for its model', async () => {
    const images = [{ mime: 'image/png', data: 'AAAA' }] as never;
    const count = (model: string, more: object): Promise<number> =>
      createPromptCount({ system: null, model, messages: [{ role: 'user', content: 'Hi', ...more }] }, host)();
    for (const [model, tokens] of [
      ['gpt-4o-mini', 48_169],
      ['gpt-4.1-nano', 3_779],
      ['gpt-5-mini', 2_642],
      ['gemini-3-pro', 4_128],
      ['claude-sonnet-5', 1_600],
      ['gpt-4o', 1_600],
    ] as const)
      expect((await count(model, { images })) - (await count(model, {})), model).to.equal(tokens);
  });

  it('count what a translated request sends back of its reasoning, and all else that its vendor gets', async () => {
    const long = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
    const message = { role: 'assistant', content: 'Hi' } as const;
    const few = await createPromptCount({ system: null, messages: [message] }, host)();
    const prompts: readonly Partial<Parameters<typeof createPromptCount>[0]>[] = [
      { messages: [{ ...message, reasoning: [{ text: long }] }] },
      { messages: [{ ...message, reasoning: [{ text: '', item: { thinking: long }, format: 'messages' }] }] },
      { messages: [{ ...message, name: long }] },
      { messages: [{ ...message, role: 'tool', toolCallId: long }] },
      { messages: [{ ...message, toolCalls: [{ id: '1', name: 'f', arguments: long }] }] },
      { system: long },
      { tools: [{ name: 'f', description: long }] },
      { format: { type: 'json_schema', name: 'f', schema: {}, description: long } },
      { endUser: long },
      { hints: { metadata: { a: long } } },
      { params: { stop: [long] } },
    ];
    for (const prompt of prompts) {
      const count = await createPromptCount({ system: null, messages: [message], ...prompt }, host)();
      expect(count - few, JSON.stringify(prompt).slice(0, 80)).to.be.greaterThan(900);
    }
  });

  it('count one stop sequence as a list of one', async () => {
    const prompt = { system: null, messages: [{ role: 'user' as const, content: 'Hello' }] };
    const countWith = (stop: string | string[]): Promise<number> =>
      createPromptCount({ ...prompt, params: { stop } }, host)();
    expect(await countWith('the end')).to.equal(await countWith(['the end']));
  });

  it('sample texts at random, so that none can hide what is between', () => {
    const hidden = ('日'.repeat(800) + ' '.repeat(200)).repeat(1_000);
    const sample = sampleOf([hidden.slice(0, 500_000), '', hidden.slice(500_000)]);
    expect(sample.length).to.equal(20_000);
    expect(sample.replaceAll(' ', '').length).to.be.within(13_000, 19_000);
    expect(sampleOf([hidden], () => 0)).not.to.equal(sampleOf([hidden], () => 0.5));
  });

  it('count prose as the tokenizer does', async () => {
    const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
    const prose = 'The quick brown fox jumps over the lazy dog, again and again.\n\n'.repeat(200);
    expect((await estimateTokens([prose], host)) / countTokens(prose)).to.be.within(1, 1.02);
  });
});
