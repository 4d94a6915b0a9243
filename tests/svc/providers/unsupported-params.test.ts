import { expect } from 'chai';
import { rememberUnsupportedParams, findUnsupportedParams } from '../../../plugins/svc/providers/unsupported-params.ts';
import {
  ProviderError,
  type ProviderConnection,
  type TextRequest,
  type TextResult,
} from '../../../plugins/svc/providers/provider.ts';
import { failureOf } from '../../helpers/failure-of.ts';

const names = {
  temperature: 'temperature',
  top_p: 'top_p',
  max_completion_tokens: 'max_completion_tokens',
  stop: 'stop_sequences',
  presence_penalty: 'presence_penalty',
  frequency_penalty: 'frequency_penalty',
  reasoning_effort: 'reasoning_effort',
} as const;
const rejection = (message: string): ProviderError => new ProviderError({ kind: 'rejected', status: 400, message });
const connection = { settings: { base_url: 'https://example.com' } } as unknown as ProviderConnection;
const request = (params: TextRequest['params']): TextRequest => ({
  model: 'model',
  system: null,
  messages: [],
  params,
});

/** An upstream that refuses temperature, and remembers what it was asked. */
function refusesTemperature(sentence: string) {
  const asked: TextRequest['params'][] = [];
  const generate = rememberUnsupportedParams(names, (given): Promise<TextResult> => {
    asked.push(given.params);
    if ('temperature' in given.params) return Promise.reject(rejection(sentence));
    return Promise.resolve({ content: 'ok', usage: null, model: 'model', ignored: ['seed'] });
  });
  return { asked, generate };
}

describe('Refusals that are learned', () => {
  for (const sentence of [
    "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    "Unsupported parameter: 'temperature' is not supported with this model.",
    'Unrecognized request argument supplied: temperature',
    'Model grok-9 does not support parameter temperature.',
    '`temperature` is deprecated for this model.',
  ]) {
    it(`leave out what the upstream refuses with: ${sentence}`, async () => {
      const { asked, generate } = refusesTemperature(sentence);
      const result = await generate(request({ temperature: 0.5, top_p: 0.9 }), connection);
      expect(asked).to.deep.equal([{ temperature: 0.5, top_p: 0.9 }, { top_p: 0.9 }]);
      expect(result.ignored).to.include('temperature');
    });
  }

  it('are remembered, so that the next call is made once', async () => {
    const { asked, generate } = refusesTemperature(
      "Unsupported parameter: 'temperature' is not supported with this model.",
    );
    await generate(request({ temperature: 0.5 }), connection);
    asked.length = 0;
    const result = await generate(request({ temperature: 0.5 }), connection);
    expect([asked, result.ignored]).to.deep.equal([[{}], ['temperature']]);
  });

  it('are not remembered for two keys that only exclude each other', async () => {
    const generate = rememberUnsupportedParams(names, ({ params }) =>
      'temperature' in params && 'top_p' in params
        ? Promise.reject(
            rejection('`temperature` and `top_p` cannot both be specified for this model. Please use only one.'),
          )
        : Promise.resolve({ content: '', usage: null, model: 'm', ignored: [] }),
    );
    expect((await generate(request({ temperature: 1, top_p: 1 }), connection)).ignored).to.deep.equal(['top_p']);
    expect((await generate(request({ top_p: 1 }), connection)).ignored).to.deep.equal([]);
  });

  it('never drop the length limit', () => {
    expect(
      findUnsupportedParams(
        rejection("Unsupported parameter: 'max_completion_tokens' is not supported with this model."),
        names,
      ),
    ).to.deep.equal([]);
  });

  it('know Google’s sentence on penalties and Ollama’s on thinking', () => {
    expect(findUnsupportedParams(rejection('Penalty is not enabled for models/gemini-2.5-pro'), names)).to.deep.equal([
      'frequency_penalty',
      'presence_penalty',
    ]);
    expect(findUnsupportedParams(rejection('"llama3.2" does not support thinking'), names)).to.deep.equal([
      'reasoning_effort',
    ]);
    expect(
      findUnsupportedParams(rejection('Model grok-4 does not support parameter presencePenalty.'), names),
    ).to.deep.equal(['presence_penalty']);
  });

  it('pass any other failure on', async () => {
    const generate = rememberUnsupportedParams(names, () => Promise.reject(rejection('Bad request.')));
    expect(((await failureOf(generate(request({ temperature: 1 }), connection))) as Error).message).to.equal(
      'Bad request.',
    );
  });
});
