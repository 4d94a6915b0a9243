import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { createGenerateText, type GenerateTextInput } from '../../../plugins/svc/ai/generate-text.ts';
import { requestOutput, type OutputFormat } from '../../../plugins/svc/ai/structured-output.ts';
import { ProviderError, type TextResult } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { answering, connectionTo, requestTo } from '../../conformance/exchange.ts';
import { fixturesOf, titleOf } from '../../conformance/upstream.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { useRecordedResponses } from '../../helpers/recorded-responses.ts';
import { answer, scripted, services } from './helpers.ts';

const output: OutputFormat = {
  name: 'product',
  schema: {
    type: 'object',
    title: 'Product',
    properties: {
      name: { type: 'string', minLength: 1, description: 'Without the brand.' },
      price: { anyOf: [{ type: 'number', minimum: 0 }, { type: 'null' }] },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    },
    required: ['name', 'price', 'tags'],
    additionalProperties: false,
  },
};
/** Without what a provider refuses. */
const sent = {
  type: 'object',
  required: ['name', 'price', 'tags'],
  properties: {
    name: { type: 'string', description: 'Without the brand.' },
    price: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};
const product = { name: 'Salt', price: 2.5, tags: ['white'] };
const call: GenerateTextInput = {
  provider: 'scripted',
  model: 'model',
  messages: [{ role: 'user', content: 'Describe it.' }],
  systemInstruction: 'Be exact.',
  output,
};
const says = (content: string, more: Partial<TextResult> = {}): TextResult => ({ ...answer, content, ...more });

async function generating(script: readonly (TextResult | Error)[], supports: readonly string[] = []) {
  const provider = scripted(...script);
  Object.assign(provider.text ?? {}, { supports: (feature: string) => supports.includes(feature) });
  return { provider, generateText: createGenerateText(await services({ providers: [provider] })) };
}

describe('Data from a model', () => {
  it('is held to the schema by the provider, and returned beside its text', async () => {
    const { provider, generateText } = await generating(
      [says(JSON.stringify(product))],
      ['response_format.json_schema', 'response_format.json_object'],
    );
    const result = await generateText(call);
    expect([result.data, result.content]).to.deep.equal([product, JSON.stringify(product)]);
    expect(provider.requests[0]).to.deep.include({
      system: 'Be exact.',
      format: { type: 'json_schema', name: 'product', schema: sent, strict: true },
    });
  });

  it('is described to a model that cannot be held to a schema, in JSON mode if it has one', async () => {
    for (const [supports, format] of [
      [['response_format.json_object'], { type: 'json_object' }],
      [[], undefined],
    ] as const) {
      const { provider, generateText } = await generating(
        [says(`Here it is:\n\`\`\`json\n${JSON.stringify(product)}\n\`\`\`\nAnything else?`)],
        supports,
      );
      expect((await generateText(call)).data).to.deep.equal(product);
      expect(provider.requests[0]?.format).to.deep.equal(format);
      expect(provider.requests[0]?.system)
        .to.match(/^Be exact\.\n\n.*JSON Schema/)
        .and.contain('"maxItems":3');
    }
  });

  it('is sent back once with what is wrong; both calls count', async () => {
    const wrong = JSON.stringify({ name: '', price: -1 });
    const { provider, generateText } = await generating([says(wrong), says(JSON.stringify(product))]);
    const { data, usage, content } = await generateText(call);
    expect([data, content]).to.deep.equal([product, JSON.stringify(product)]);
    expect(usage).to.deep.equal({ input_tokens: 2, output_tokens: 4, total_tokens: 6 });
    const [first, reply, repair] = provider.requests[1]?.messages ?? [];
    expect([first?.content, reply]).to.deep.equal(['Describe it.', { role: 'assistant', content: wrong }]);
    expect(repair?.content).to.contain('tags').and.contain('name').and.contain('price').and.contain('corrected');
  });

  it('that stays wrong is an error that says what is wrong', async () => {
    const { provider, generateText } = await generating([says('No idea.'), says('{"name":"Salt"}')]);
    const error = (await failureOf(generateText(call))) as RestError;
    expect([error.code, error.status]).to.deep.equal(['rest_svc_output_invalid', 502]);
    expect(error.message).to.contain('answered of Scripted').and.contain('tags').and.contain('another model');
    expect(provider.requests).to.have.length(2);
    expect(provider.requests[1]?.messages.at(-1)?.content).to.contain('not a JSON object');
  });

  it('that was cut at the length limit or filtered is not repaired', async () => {
    for (const [finish, code] of [
      ['length', 'rest_svc_output_cut'],
      ['content_filter', 'rest_svc_output_filtered'],
    ] as const) {
      const { provider, generateText } = await generating([says('{"name":"Sa', { finish })]);
      expect(await failureOf(generateText(call))).to.include({ code });
      expect(provider.requests).to.have.length(1);
    }
  });

  it('passes no pieces of JSON on', async () => {
    const { generateText } = await generating([says(JSON.stringify(product))]);
    const pieces: string[] = [];
    await generateText({ ...call, onText: (piece) => pieces.push(piece) });
    expect(pieces).to.deep.equal([]);
  });

  it('is described from then on to a model that refuses the format', async () => {
    const message = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.";
    const refusal = new ProviderError({ kind: 'rejected', status: 400, message });
    const { provider, generateText } = await generating(
      [refusal, says(JSON.stringify(product))],
      ['response_format.json_schema'],
    );
    expect((await generateText(call)).data).to.deep.equal(product);
    await generateText(call);
    expect(provider.requests.map(({ format }) => format?.type)).to.deep.equal(['json_schema', undefined, undefined]);
    expect(provider.requests[2]?.system).to.contain('JSON Schema');
  });

  it('is not described to a model that refuses something else', async () => {
    const refusal = new ProviderError({ kind: 'rejected', status: 400, message: 'Your account is closed.' });
    const { provider, generateText } = await generating([refusal], ['response_format.json_schema']);
    expect(await failureOf(generateText(call))).to.include({ code: 'rest_svc_provider_rejected' });
    expect(provider.requests).to.have.length(1);
  });

  it('is strict only where each object requires all its members', () => {
    const loose = { ...output, schema: { ...output.schema, required: ['name'] } };
    const request = { model: 'm', system: null, messages: [], params: {} };
    expect(requestOutput(request, loose, () => true).format).to.not.have.property('strict');
  });

  describe('in the words of each provider', () => {
    useRecordedResponses();
    const format = { type: 'json_schema', json_schema: { name: 'product', schema: sent, strict: true } };
    const own: Readonly<Record<string, readonly [member: string, value: unknown]>> = {
      claude: ['output_config', { format: { type: 'json_schema', schema: sent } }],
      google: ['generationConfig', { responseMimeType: 'application/json', responseJsonSchema: sent }],
      deepseek: ['response_format', { type: 'json_object' }],
      responses: ['text', { format: { type: 'json_schema', name: 'product', schema: sent, strict: true } }],
    };
    const models: Readonly<Record<string, string>> = { claude: 'claude-opus-4-5' };
    const providers = createProviderRegistry({ hooks: createHooks() });
    for (const upstream of upstreams)
      it(`${titleOf(upstream)}: ${(own[upstream.format ?? upstream.id] ?? ['response_format'])[0]}, in a body its specification allows`, async () => {
        const model = models[upstream.id] ?? upstream.model;
        const provider = providers.all().find(({ id }) => id === upstream.id);
        const received = answering(upstream, { body: fixturesOf(upstream.id, upstream.format).answer });
        const request = requestOutput(requestTo(upstream, { model }), output, (feature) =>
          Boolean(provider?.text?.supports?.(feature, model, upstream.settings)),
        );
        await provider?.text?.generate(request, connectionTo(upstream));
        const [member, value] = own[upstream.format ?? upstream.id] ?? ['response_format', format];
        expect(received.body[member]).to.deep.equal(value);
        // Newer than the copy of Anthropic's specification.
        const { output_config: _newer, ...described } = received.body;
        expect(upstream.valid(described), JSON.stringify(upstream.valid.errors)).to.equal(true);
      });
  });
});
