import { expect } from 'chai';
import type { UpstreamResponse } from './upstream.ts';
import { say, startChatService, type ChatService } from './chat-service.ts';
import type { Answer } from './service.ts';

interface Expected {
  readonly status: number;
  readonly code: string;
}

describe('errors of POST /chat/{bot_id}/message', () => {
  let service: ChatService;
  let botId: number;
  before(async () => {
    service = await startChatService();
    botId = (await service.bot()).id;
  });
  beforeEach(() => {
    service.upstream.answer();
  });
  after(() => service.stop());

  function expectError(answer: Answer, { status, code }: Expected): void {
    expect([answer.status, answer.body.code], answer.text).to.deep.equal([status, code]);
    expect(answer.body).to.have.all.keys('code', 'message', 'data');
    expect(answer.body.message).to.be.a('string').and.not.equal('');
    expect(answer.body.data.status).to.equal(status);
    expect(answer.text).not.to.match(/sk-upstream|node_modules|\/plugins\/|\bat .+:\d+:\d+/);
  }

  it('returns 401 before anything is read', async () => {
    for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
      for (const id of [botId, 999, 'abc', 0])
        expectError(await service.chat(id, { messages: 'bad' }, headers), {
          status: 401,
          code: 'rest_svc_invalid_api_key',
        });
    }
    expect(service.upstream.requests).to.have.length(0);
  });

  for (const id of [999, 2_147_483_648, '9007199254740993', '99999999999999999999999', '1e3']) {
    it(`returns 404 rest_svc_bot_not_found for bot_id ${String(id)}`, async () => {
      const answer = await service.chat(id, say('Hello'));
      expectError(answer, { status: 404, code: 'rest_svc_bot_not_found' });
      expect(answer.body.message).to.match(/^No chatbot has the id [\de+]+\. It may have been deleted\.$/);
    });
  }

  for (const id of ['0', '-1', 'abc', '1.5', '%20', '1%00', 'null', 'NaN', '__proto__']) {
    it(`returns 400 rest_invalid_param for bot_id ${id}, and names it`, async () => {
      const answer = await service.chat(id, say('Hello'));
      expectError(answer, { status: 400, code: 'rest_invalid_param' });
      expect(answer.body.data.params).to.have.all.keys('bot_id');
    });
  }

  it('returns 404 for an inactive and for a deleted bot', async () => {
    const { id } = await service.bot({ status: 'inactive' });
    expectError(await service.chat(id, say('Hello')), { status: 404, code: 'rest_svc_bot_not_found' });
    await service.host.cli('svc', 'bot', 'update', '--json', JSON.stringify({ id, status: 'active' }));
    expect((await service.chat(id, say('Hello'))).status).to.equal(200);
    await service.host.cli('svc', 'bot', 'delete', String(id));
    expectError(await service.chat(id, say('Hello')), { status: 404, code: 'rest_svc_bot_not_found' });
  });

  it('uses only the id of the path', async () => {
    const other = await service.bot({ model: 'another-model' });
    await service.chat(botId, { ...say('Hello'), bot_id: other.id });
    expect(service.upstream.requests[0]).to.include({ model: 'gpt-4o-mini' });
  });

  const one = (role: unknown, content: unknown): object => ({ messages: [{ role, content }] });
  const ours: Record<string, [unknown, Expected]> = {
    'no messages': [{}, { status: 400, code: 'rest_missing_callback_param' }],
    'messages: null': [{ messages: null }, { status: 400, code: 'rest_missing_callback_param' }],
    'messages that are a text': [{ messages: 'Hello' }, { status: 400, code: 'rest_invalid_param' }],
    'a message that is none': [{ messages: [null] }, { status: 400, code: 'rest_invalid_param' }],
    'a message without content': [{ messages: [{ role: 'user' }] }, { status: 400, code: 'rest_invalid_param' }],
    'content that is a list': [one('user', ['a']), { status: 400, code: 'rest_invalid_param' }],
    'a system message': [
      {
        messages: [
          { role: 'system', content: 'Obey.' },
          { role: 'user', content: 'a' },
        ],
      },
      { status: 400, code: 'rest_invalid_param' },
    ],
    'an unknown role': [one('robot', 'a'), { status: 400, code: 'rest_invalid_param' }],
    'a conversation_uuid that is none': [
      { ...say('a'), conversation_uuid: '7' },
      { status: 400, code: 'rest_invalid_param' },
    ],
    'a conversation_uuid that is a list': [
      { ...say('a'), conversation_uuid: [] },
      { status: 400, code: 'rest_invalid_param' },
    ],
    'JSON that breaks off': ['{"messages": [', { status: 400, code: 'rest_invalid_json' }],
    'a body above 1 MB': [say('x'.repeat(1_100_000)), { status: 413, code: 'rest_body_too_large' }],
    'stream: true': [
      { ...say('a'), stream: true },
      { status: 400, code: 'rest_svc_streaming_not_supported' },
    ],
    'no message in the list': [{ messages: [] }, { status: 400, code: 'rest_svc_invalid_messages' }],
    'nothing but blank content': [say(' ', '\n', '\t'), { status: 400, code: 'rest_svc_invalid_messages' }],
    'an assistant at the end': [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      { status: 400, code: 'rest_svc_invalid_last_message' },
    ],
    'a blank last message': [say('a', 'b', '  '), { status: 400, code: 'rest_svc_invalid_last_message' }],
  };
  for (const [name, [body, expected]] of Object.entries(ours)) {
    it(`returns ${String(expected.status)} ${expected.code} for ${name}`, async () => {
      expectError(await service.chat(botId, body), expected);
      expect(service.upstream.requests).to.have.length(0);
    });
  }

  it('returns 404 rest_no_route for GET', async () => {
    const response = await service.host.fetch(`/wp-json/svc/v1/chat/${String(botId)}/message`);
    expect([response.status, ((await response.json()) as { code: string }).code]).to.deep.equal([404, 'rest_no_route']);
  });

  it('names the provider that is not configured, and where to configure it', async () => {
    const bot = await service.bot({ provider: 'claude', model: 'claude-x' });
    const answer = await service.chat(bot.id, say('Hello'));
    expectError(answer, { status: 400, code: 'rest_svc_provider_not_configured' });
    expect(answer.body.message).to.contain('Claude').and.contain('AI service');
    expect(answer.body.data).to.deep.include({ provider: 'claude', provider_status: null });
  });

  const failure = (status: number, message: string): UpstreamResponse => ({
    status,
    body: { error: { message, type: 'some_error', code: null } },
  });
  const theirs: Record<string, [UpstreamResponse, Expected & { readonly providerStatus: number | null }]> = {
    '400': [
      failure(400, 'No such parameter'),
      { status: 400, code: 'rest_svc_provider_rejected', providerStatus: 400 },
    ],
    '404': [failure(404, 'No such model'), { status: 400, code: 'rest_svc_provider_rejected', providerStatus: 404 }],
    '413': [failure(413, 'Too long'), { status: 400, code: 'rest_svc_provider_rejected', providerStatus: 413 }],
    '422': [failure(422, 'Unprocessable'), { status: 400, code: 'rest_svc_provider_rejected', providerStatus: 422 }],
    '401': [
      failure(401, 'Incorrect API key'),
      { status: 502, code: 'rest_svc_provider_auth_failed', providerStatus: 401 },
    ],
    '403': [failure(403, 'Forbidden'), { status: 502, code: 'rest_svc_provider_auth_failed', providerStatus: 403 }],
    '429': [
      { ...failure(429, 'Slow down'), headers: { 'retry-after': '7' } },
      { status: 429, code: 'rest_svc_provider_rate_limited', providerStatus: 429 },
    ],
    '500': [failure(500, 'Broken'), { status: 502, code: 'rest_svc_provider_error', providerStatus: 500 }],
    HTML: [{ body: '<html>' }, { status: 502, code: 'rest_svc_provider_error', providerStatus: 200 }],
    'half of it': [{ instead: 'cut' }, { status: 502, code: 'rest_svc_provider_error', providerStatus: null }],
  };
  for (const [name, [answer, expected]] of Object.entries(theirs)) {
    it(`returns ${String(expected.status)} ${expected.code} when the provider returns ${name}, and notifies plugins`, async () => {
      const notified: unknown[] = [];
      const undo = service.host.hooks.addAction(
        'svc_chatbot_reply_failed',
        (error, turn) => void notified.push([(error as Expected).code, turn.bot.id]),
      );
      service.upstream.answer(answer);
      const error = await service.chat(botId, {
        ...say('Hello'),
        conversation_uuid: '11111111-1111-4111-8111-111111111111',
      });
      undo();
      expectError(error, expected);
      expect(error.body.data.provider).to.equal('openai');
      if (name !== 'HTML' && name !== 'half of it')
        expect(error.body.data.provider_status).to.equal(expected.providerStatus);
      if (name === '429') expect(error.headers.get('retry-after')).to.equal('7');
      expect(notified).to.deep.equal([[expected.code, botId]]);
      expect(await service.host.database.knex('svc_conversations').select('id')).to.deep.equal([]);
    });
  }

  it('returns 504 rest_svc_provider_timeout without a response in 60 seconds', async () => {
    service.upstream.answer({ instead: 'hang' });
    const answer = service.chat(botId, say('Hello'));
    await service.upstream.asked();
    await service.clock.advance(60_000);
    expectError(await answer, { status: 504, code: 'rest_svc_provider_timeout' });
  });

  it('returns 429 rest_svc_rate_limited above the limit of calls', async () => {
    await service.host.options.update('svc_limits', { requests_per_minute: 1 });
    await service.clock.advance(60_000);
    expect((await service.chat(botId, say('Hello'))).status).to.equal(200);
    const refused = await service.chat(botId, say('Hello'));
    await service.host.options.delete('svc_limits');
    expectError(refused, { status: 429, code: 'rest_svc_rate_limited' });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
  });

  it('returns the error with which a plugin refuses a message, and hides internal errors of plugins', async () => {
    const { hooks } = service.host;
    const refuse = hooks.addFilter('svc_chatbot_prompt', () => {
      throw Object.assign(new Error('Not today.'), { code: 'my_refusal', status: 403 });
    });
    expectError(await service.chat(botId, say('Hello')), { status: 403, code: 'my_refusal' });
    refuse();
    const broken = hooks.addFilter('svc_chatbot_reply', () => {
      throw new Error('a secret inside');
    });
    const answer = await service.chat(botId, say('Hello'));
    broken();
    expectError(answer, { status: 500, code: 'rest_internal_error' });
    expect(answer.text).not.to.contain('secret inside');
  });
});
