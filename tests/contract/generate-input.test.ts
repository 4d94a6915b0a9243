import { expect } from 'chai';
import { goodRequest, startService, type Answer, type Service } from './service.ts';

type Code = 'rest_invalid_param' | 'rest_missing_callback_param';

describe('bad input of POST /generate', () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  function expectRefused(answer: Answer, code: string, status = 400): void {
    expect([answer.status, answer.body.code], answer.text).to.deep.equal([status, code]);
    expect(answer.body).to.have.all.keys('code', 'message', 'data');
    expect(answer.body.data.status).to.equal(status);
    expect(answer.text).not.to.match(/node_modules|\/plugins\/|\bat .+:\d+:\d+/);
  }

  for (const name of ['provider', 'model', 'messages'] as const) {
    it(`names ${name} when it is missing`, async () => {
      const { [name]: _left, ...rest } = goodRequest;
      const answer = await service.generate(rest);
      expectRefused(answer, 'rest_missing_callback_param');
      expect(answer.body.data.params).to.deep.equal([name]);
    });
  }

  it('names all that is missing at once', async () => {
    const answer = await service.generate({});
    expectRefused(answer, 'rest_missing_callback_param');
    expect(answer.body.data.params).to.deep.equal(['provider', 'model', 'messages']);
  });

  const wrong: Record<string, readonly unknown[]> = {
    provider: [1, true, [], {}, '', 'OpenAI', 'nobody', '__proto__', 'constructor', 'toString'],
    model: [1, true, [], {}, ''],
    messages: [
      1,
      true,
      'text',
      { a: 1 },
      [1],
      ['text'],
      [null],
      [[]],
      [{}],
      [{ role: 'user' }],
      [{ content: 'a' }],
      [{ role: 'nobody', content: 'a' }],
      [{ role: 'user', content: 1 }],
      [{ role: 'user', content: null }],
      [{ role: 'user', content: ['a'] }],
      [{ role: '__proto__', content: 'a' }],
    ],
    system_instruction: [1, true, [], {}],
    ai_params: [1, true, 'text', [1], [[]]],
    stream: ['perhaps', 2, [], {}],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      it(`refuses ${name} = ${JSON.stringify(value)} and names it`, async () => {
        const answer = await service.generate({ ...goodRequest, [name]: value });
        expectRefused(answer, 'rest_invalid_param');
        expect(answer.body.data.params).to.have.all.keys(name);
        expect(answer.body.data.params[name]).to.be.a('string').and.match(new RegExp(name));
        expect(answer.body.data.details[name]).to.include.keys('code', 'message', 'data');
      });
    }
  }

  const nulls: Record<string, Code> = {
    provider: 'rest_missing_callback_param',
    model: 'rest_missing_callback_param',
    messages: 'rest_missing_callback_param',
  };
  for (const [name, code] of Object.entries(nulls)) {
    it(`answers ${code} to ${name} = null`, async () => {
      expectRefused(await service.generate({ ...goodRequest, [name]: null }), code);
    });
  }

  for (const name of ['system_instruction', 'ai_params', 'stream'])
    it(`takes null of the optional ${name} as left out (contract 4.2, D49)`, async () => {
      expect((await service.generate({ ...goodRequest, [name]: null })).status).to.equal(200);
    });

  const outOfRange: Record<string, readonly unknown[]> = {
    temperature: [-0.1, 2.1, 'warm', [], {}],
    max_completion_tokens: [0, 10_000_001, 1.5, 'many'],
    max_tokens: [0, 10_000_001],
    top_p: [-1, 1.1],
    frequency_penalty: [-2.1, 2.1],
    presence_penalty: [-3, 3],
    stop: ['', [], ['a', 'b', 'c', 'd', 'e'], [''], { a: 1 }],
    seed: [1.5, 'x'],
    top_k: [0, -1],
    reasoning_effort: ['huge', 1],
  };
  for (const [key, values] of Object.entries(outOfRange)) {
    for (const value of values) {
      it(`refuses ai_params ${key} = ${JSON.stringify(value)} and names it`, async () => {
        const answer = await service.generate({ ...goodRequest, ai_params: { [key]: value } });
        expectRefused(answer, 'rest_invalid_param');
        expect(answer.body.data.params.ai_params).to.contain(`ai_params[${key}]`);
      });
    }
  }

  it('lists every bad parameter', async () => {
    const answer = await service.generate({
      provider: 'nobody',
      model: '',
      messages: [{}],
      ai_params: { temperature: 9 },
    });
    expectRefused(answer, 'rest_invalid_param');
    expect(answer.body.data.params).to.have.all.keys('provider', 'model', 'messages', 'ai_params');
  });

  const malformed = ['{', '{"provider": }', '{"a":1,}', 'nonsense', '{"a":"\u0000"}', '\ufeff{', "{'a':1}", 'NaN'];
  for (const body of malformed) {
    it(`answers 400 rest_invalid_json to ${JSON.stringify(body)}`, async () => {
      expectRefused(await service.generate(body), 'rest_invalid_json');
    });
  }

  for (const body of ['null', 'true', '1', '"text"', '[]', '']) {
    it(`takes the body ${JSON.stringify(body)} for one without parameters`, async () => {
      expectRefused(await service.generate(body), 'rest_missing_callback_param');
    });
  }

  it('answers 413 to a body over 1 MB, with and without a declared length', async () => {
    const huge = JSON.stringify({ ...goodRequest, messages: [{ role: 'user', content: 'a'.repeat(1_100_000) }] });
    expectRefused(await service.generate(huge), 'rest_body_too_large', 413);
  });

  it('takes a long message below the limit', async () => {
    const { status } = await service.generate({
      ...goodRequest,
      messages: [{ role: 'user', content: 'a'.repeat(900_000) }],
    });
    expect(status).to.equal(200);
  });

  it('never breaks on deep nesting or on very many members', async () => {
    const deep = `{"provider":"openai","model":"m","messages":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    const answer = await service.generate(deep);
    expect(answer.status).to.be.within(400, 499);
    const wide = {
      ...goodRequest,
      ai_params: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, index])),
    };
    expect((await service.generate(wide)).status).to.equal(400);
    const allowed = { ...goodRequest, ai_params: Object.fromEntries(Object.entries(wide.ai_params).slice(0, 900)) };
    const { status, headers } = await service.generate(allowed);
    expect(status).to.equal(200);
    expect(headers.get('x-svc-ignored-params')?.split(', ')).to.have.length(50);
  });

  for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    it(`leaves prototypes alone when ${key} is sent as a parameter, a key of ai_params and a member of a message`, async () => {
      const body = `{"provider":"openai","model":"m","messages":[{"role":"user","content":"a","${key}":{"polluted":1}}],"${key}":{"polluted":1},"ai_params":{"${key}":{"polluted":1}}}`;
      const { status } = await service.generate(body);
      expect(status === 200 || (status >= 400 && status < 500)).to.equal(true);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });

    it(`does not take ${key} for a parameter that is missing`, async () => {
      const answer = await service.generate(`{"${key}":{"provider":"openai","model":"m","messages":[]}}`);
      expectRefused(answer, key === '__proto__' ? 'rest_invalid_param' : 'rest_missing_callback_param');
    });
  }
});
