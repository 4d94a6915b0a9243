import { expect } from 'chai';
import { expectShape } from './helpers/answer-schemas.ts';
import { addresses, call, messageOf } from './helpers/call.ts';
import type { Called } from './helpers/call.ts';
import { openSandbox } from './helpers/open-sandbox.ts';
import type { OpenSandbox } from './helpers/open-sandbox.ts';

/** Each provider's error envelope. */
const shapes: Readonly<Record<string, (json: unknown) => void>> = {
  openai: (value) => {
    expectShape('openai', 'ErrorResponse', { value });
  },
  deepseek: (value) => {
    expectShape('openai', 'ErrorResponse', { value });
  },
  ollama: (value) => {
    expectShape('openai', 'ErrorResponse', { value });
  },
  openrouter: (value) => {
    expect(value).to.have.nested.property('error.code').that.is.a('number');
  },
  xai: (value) => {
    expect(value).to.have.all.keys('code', 'error').and.to.have.property('error').that.is.a('string');
  },
  azure: (value) => {
    expect(value).to.have.nested.property('error.message').that.is.a('string');
  },
  claude: (value) => {
    expectShape('anthropic', 'ErrorResponse', { value });
  },
  google: (value) => {
    expect(value).to.have.property('error').that.includes.all.keys('code', 'message', 'status');
  },
};

describe('refusals of the sandbox', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());

  for (const address of addresses) {
    const title = address.path('{deployment}').split('?')[0]!;
    describe(title, () => {
      const send = (
        init: { model?: string; key?: string; headers?: Record<string, string>; body?: unknown } = {},
      ): Promise<Called> => {
        const model = init.model ?? 'any-model';
        return call(sandbox.url + address.path(model), {
          headers: init.headers ?? address.headers(init.key ?? 'sandbox'),
          body: init.body === undefined ? address.body(model) : init.body,
        });
      };
      const refuses = async (promise: Promise<Called>, status: number): Promise<string> => {
        const called = await promise;
        expect(called.status, called.text).to.equal(status);
        shapes[address.id]!(called.json);
        return messageOf(called.json);
      };

      it('wants the key', async () => {
        const version = { 'anthropic-version': '2023-06-01' };
        if (address.wrongKey === null || address.noKey === null) {
          expect((await send({ headers: version })).status).to.equal(200);
          return;
        }
        const wrong = await refuses(send({ key: 'a-wrong-key-of-mine' }), address.wrongKey);
        expect(wrong).not.to.contain('a-wrong-key-of-mine');
        await refuses(send({ headers: version }), address.noKey);
      });

      it('does not know models whose names begin with missing-', async () => {
        expect(await refuses(send({ model: 'missing-model' }), address.unknownModel)).not.to.equal('');
      });

      it('refuses a body that is not JSON', () => refuses(send({ body: '{"model": ' }), 400));

      it('refuses a body without messages, and one without a model where the body names it', async () => {
        const body = address.body('any-model');
        const { messages: _, contents: __, ...rest } = body;
        await refuses(send({ body: rest }), 400);
        if ('model' in body) await refuses(send({ body: { ...body, model: undefined } }), 400);
      });

      it('refuses a temperature of 3', () =>
        refuses(
          send({
            body: {
              ...address.body('any-model'),
              ...(address.id === 'google' ? { generationConfig: { temperature: 3 } } : { temperature: 3 }),
            },
          }),
          400,
        ));

      it('answers an unknown path with its 404', async () => {
        const { status, json } = await call(`${sandbox.url}/${address.id}/v1/nothing-here`, {
          headers: address.headers('sandbox'),
        });
        expect(status).to.equal(404);
        shapes[address.id]!(json);
      });

      it('refuses a body over 10 MB', async () => {
        const { status, json } = await send({
          body: JSON.stringify({ ...address.body('any-model'), padding: 'x'.repeat(10 * 1024 * 1024) }),
        });
        expect(status).to.equal(413);
        // Anthropic documents the type request_too_large; its specification leaves it out.
        if (address.id === 'claude') expect(json).to.have.nested.property('error.type', 'request_too_large');
        else shapes[address.id]!(json);
      });
    });
  }

  it('refuses members that Google does not know, and roles that Claude does not take', async () => {
    const google = addresses.find(({ id }) => id === 'google')!;
    const unknown = await call(sandbox.url + google.path('any'), {
      headers: google.headers('sandbox'),
      body: { ...google.body(''), temperature: 1 },
    });
    expect(messageOf(unknown.json)).to.equal(
      'Invalid JSON payload received. Unknown name "temperature": Cannot find field.',
    );
    const claude = addresses.find(({ id }) => id === 'claude')!;
    const system = await call(sandbox.url + claude.path('any'), {
      headers: claude.headers('sandbox'),
      body: { model: 'any', max_tokens: 5, messages: [{ role: 'system', content: 'x' }] },
    });
    expect(messageOf(system.json)).to.contain('Unexpected role "system"');
  });

  it('refuses sampling parameters under the version of Messages that takes none', async () => {
    const claude = addresses.find(({ id }) => id === 'claude')!;
    const headers = { ...claude.headers('sandbox'), 'anthropic-version': '2026-10-21' };
    const called = await call(sandbox.url + claude.path('any'), {
      headers,
      body: { ...claude.body('any'), temperature: 0.5 },
    });
    expect(called.status).to.equal(400);
    expect(messageOf(called.json)).to.contain('temperature');
  });

  it("refuses max_tokens for OpenAI's reasoning models", async () => {
    const openai = addresses[0]!;
    const called = await call(sandbox.url + openai.path(''), {
      headers: openai.headers('sandbox'),
      body: { ...openai.body('o4-mini'), max_tokens: 5 },
    });
    expect(called.json).to.have.nested.property('error.code', 'unsupported_parameter');
  });

  it('is not there for the classic Azure interface without a dated version', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello' }] };
    const path = `${sandbox.url}/azure/openai/deployments/mine/chat/completions`;
    expect((await call(path, { headers: { 'api-key': 'sandbox' }, body })).status).to.equal(404);
    expect((await call(`${path}?api-version=2024-10-21`, { headers: { 'api-key': 'sandbox' }, body })).status).to.equal(
      200,
    );
  });

  it('names the stand-ins at its root, and to who asks for another', async () => {
    expect((await call(sandbox.url)).json).to.have.nested.property('addresses.openrouter', '/openrouter/api/v1');
    expect((await call(`${sandbox.url}/cohere/v1/chat`)).status).to.equal(404);
  });
});
