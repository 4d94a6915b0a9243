import { expect } from 'chai';
import nock from 'nock';
import { createHooks } from '../../../host/hooks/hooks.ts';
import type { Reasoning, TextFormat } from '../../../plugins/svc/kit/reasoning.ts';
import type { ProviderSettings, TextRequest } from '../../../plugins/svc/providers/provider.ts';
import { createProviderRegistry } from '../../../plugins/svc/providers/registry.ts';
import { connectionTo, requestTo } from '../../conformance/exchange.ts';
import { upstreams } from '../../conformance/upstreams.ts';
import { useRecordedResponses } from '../../helpers/recorded-responses.ts';

const upstream = upstreams.find(({ id }) => id === 'openai')!;
const provider = createProviderRegistry({ hooks: createHooks() }).get('openai')!;
const own = 'https://api.openai.com';
const chat = { messages: [{ role: 'user', content: 'Hello' }], stop: ['END'] };
const native = { format: 'chat', given: ['stop'], body: { model: 'openai/gpt-5.6-terra', ...chat } } as const;

describe('a vendor with two APIs for texts', () => {
  useRecordedResponses();

  const settings = (more: ProviderSettings): ProviderSettings => ({ api_key: 'k', base_url: `${own}/v1`, ...more });
  /** The path of the request, and its body. */
  async function send(more: ProviderSettings, changes: Partial<TextRequest>) {
    let sent: readonly [string, unknown] = ['', null];
    nock(own)
      .post(() => true)
      .reply((uri, body) => {
        sent = [uri, body];
        const message = { role: 'assistant', content: 'Hi.' };
        const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }];
        const chosen = uri.endsWith('/responses')
          ? { id: 'r', object: 'response', status: 'completed', model: 'm', output }
          : { choices: [{ index: 0, message, finish_reason: 'stop' }], model: 'm' };
        return [200, chosen, { 'content-type': 'application/json' }];
      });
    const request = requestTo(upstream, { model: 'gpt-5.6-terra', ...changes });
    const result = await provider.text!.generate(request, connectionTo(upstream, { settings: settings(more) }));
    expect(result.content).to.equal('Hi.');
    return sent;
  }
  const formatOf = (more: ProviderSettings, sent?: TextFormat) =>
    provider.text!.format!('gpt-5.6-terra', settings(more), sent);

  it('gets a request in the format that it was sent in, unless its settings name the other API', () => {
    expect(formatOf({})).to.equal('responses');
    expect(formatOf({}, 'chat')).to.equal('chat');
    expect(formatOf({}, 'messages')).to.equal('responses');
    expect(formatOf({ api: 'responses' }, 'chat')).to.equal('responses');
    expect(formatOf({ api: 'chat' }, 'responses')).to.equal('chat');
  });

  it('gets a completion as it was sent, with what the other API lacks', async () => {
    const params = { stop: ['END'] };
    expect(await send({}, { native, params })).to.deep.equal([
      '/v1/chat/completions',
      { model: 'gpt-5.6-terra', ...chat },
    ]);
    const [path] = await send({}, {});
    expect(path).to.equal('/v1/responses');
  });

  it('gets the reasoning back that it returned before', async () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAB' };
    const reasoning: Reasoning[] = [{ text: '', item, format: 'responses' }];
    const messages = [
      { role: 'user' as const, content: 'Hello' },
      { role: 'assistant' as const, content: 'Hi.', reasoning },
      { role: 'user' as const, content: 'Again' },
    ];
    const supports = provider.text!.supports!;
    expect(supports('messages.reasoning', 'gpt-5.6-terra', settings({}))).to.equal(true);
    expect(supports('messages.reasoning', 'gpt-5.6-terra', settings({ api: 'chat' }))).to.equal(false);
    const [, body] = await send({}, { messages });
    expect(JSON.stringify(body)).to.contain('gAAAAB');
  });
});
