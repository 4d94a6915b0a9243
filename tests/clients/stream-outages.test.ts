import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { startAnthropicDoor, type AnthropicDoor } from './anthropic-door.ts';
import { restKey } from './openai-door.ts';

const model = 'claude/claude-sonnet-4-5';
const messages = [{ role: 'user', content: 'Hi' }];
const doors = [
  ['svc-openai/v1/chat/completions', { model, messages }],
  ['svc-openai/v1/responses', { model, input: 'Hi' }],
  ['svc-anthropic/v1/messages', { model, max_tokens: 100, messages }],
] as const;

/** PostgreSQL's error for a statement whose server is shut down. */
const outage = Object.assign(new Error('terminating connection due to administrator command: secret_table'), {
  code: '57P01',
});

/** Milliseconds. A stream begins without a text after a second. */
const afterOpening = 1100;

describe('a stream in which something fails after it began', () => {
  let door: AnthropicDoor;
  let failure: Error;
  before(async () => {
    door = await startAnthropicDoor();
    door.host.hooks.addFilter('svc_text_request', async () => {
      await setTimeout(afterOpening);
      throw failure;
    });
  });
  after(() => door.stop());

  const stream = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${door.host.url}/wp-json/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(response.status).to.equal(200);
    return response.text();
  };

  for (const [path, body] of doors) {
    it(`ends at ${path} with the error of an unavailable database, and its log line is a warning`, async () => {
      failure = outage;
      const before = door.host.logged.length;
      const text = await stream(path, body);
      expect(text).to.contain('The site cannot use its database at the moment.');
      expect(text).to.not.contain('secret_table');
      const lines = door.host.logged.slice(before).filter((line) => line.includes('"message":"Stream failed"'));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.contain('"level":"warn"').and.contain('57P01');
    });

    it(`ends at ${path} with the request id of an unexpected error, whose details are in the log only`, async () => {
      failure = new Error('a secret detail');
      const before = door.host.logged.length;
      const text = await stream(path, body);
      const [, id] = /An unexpected error occurred\. Request id: ([\w-]+)\./.exec(text) ?? [];
      expect(text).to.not.contain('a secret detail');
      const lines = door.host.logged.slice(before).filter((line) => line.includes('"message":"Stream failed"'));
      expect(lines).to.have.length(1);
      expect(lines[0]).to.contain('"level":"error"').and.contain('a secret detail').and.contain(String(id));
    });
  }
});
