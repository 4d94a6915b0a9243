import { expect } from 'chai';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { errorFromResponse } from '../../../plugins/svc/providers/provider-errors.ts';

const errorOf = (status: number, body: unknown) =>
  errorFromResponse({ status, headers: new Headers(), body }, { settings: {}, clock: createFakeClock() });
const openai = (message: string, members: object = {}) => ({ error: { message, ...members } });
const claude = (type: string, message: string) => ({ type: 'error', error: { type, message } });
const google = (code: number, status: string, message: string) => ({ error: { code, status, message } });

describe('rejections of providers', () => {
  const cases: Record<string, readonly [status: number, body: unknown][]> = {
    context_length: [
      [400, openai('This model’s maximum context length is 8192 tokens.', { code: 'context_length_exceeded' })],
      [400, claude('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum')],
      [
        400,
        google(
          400,
          'INVALID_ARGUMENT',
          'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        ),
      ],
      [400, { code: 'Client specified an invalid argument', error: "This model's maximum prompt length is 131072" }],
      [400, openai("This endpoint's maximum context length is 32768 tokens.", { code: 400 })],
      [400, openai('the request exceeds the available context size', { type: 'exceed_context_size_error' })],
      [400, { object: 'error', message: "This model's maximum context length is 4096 tokens.", code: 400 }],
    ],
    content_filter: [
      [400, openai('The response was filtered.', { code: 'content_filter', param: 'prompt' })],
      [400, openai('Your request was rejected by the safety system.', { code: 'moderation_blocked' })],
      [400, openai('Not allowed.', { code: 'content_policy_violation' })],
      [400, claude('invalid_request_error', 'Output blocked by content filtering policy')],
      [403, openai('Your input was flagged.', { code: 403, metadata: { reasons: ['violence'] } })],
      [403, { code: 'permission-denied', error: 'Content violates usage guidelines.' }],
    ],
    model_not_found: [
      [404, openai('The model `gpt-9` does not exist.', { code: 'model_not_found' })],
      [404, openai('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' })],
      [404, claude('not_found_error', 'model: claude-9')],
      [404, google(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta')],
      [404, openai('model "llama9" not found, try pulling it first')],
      [400, openai('Model Not Exist', { type: 'invalid_request_error' })],
      [400, openai('gpt-9 is not a valid model ID', { code: 400 })],
    ],
    invalid_request: [
      [400, openai('temperature must be at most 2.', { code: 'invalid_value' })],
      [422, openai('Not possible.', { param: 'messages[0].content' })],
    ],
    none: [
      [400, openai('No.', { param: 'two words', code: '<b>' })],
      [400, claude('invalid_request_error', 'max_tokens: must be above 0')],
      [404, '<html>Not found</html>'],
      [404, { detail: 'Not Found' }],
      [429, openai('Too many tokens in the context window per minute')],
      [500, openai('The model does not exist in this region', { code: 'model_not_found' })],
      [413, openai('Request too large.')],
    ],
  };
  for (const [reason, rejections] of Object.entries(cases))
    for (const [status, body] of rejections)
      it(`are ${reason} for ${String(status)} ${JSON.stringify(body).slice(0, 100)}`, () => {
        const { rejection, kind } = errorOf(status, body);
        expect(rejection?.reason ?? 'none').to.equal(reason);
        if (reason !== 'none') expect(kind).to.equal('rejected');
      });

  it('keep what Azure’s filter found, and name its categories', () => {
    const found = {
      jailbreak: { detected: true, filtered: true },
      hate: { filtered: false, severity: 'safe' },
      custom: { text: 'x'.repeat(500), filtered: 7, list: [1] },
    };
    const error = errorOf(400, {
      error: {
        code: 'content_filter',
        message: 'The prompt was filtered.',
        param: 'prompt',
        innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: found },
      },
    });
    expect(error.rejection).to.deep.equal({
      reason: 'content_filter',
      param: 'prompt',
      filtered: { jailbreak: found.jailbreak, hate: found.hate, custom: {} },
    });
    expect(error.message).to.equal('The prompt was filtered. Filtered: jailbreak.');
  });

  it('may be about the base URL', () => {
    expect(errorOf(404, '<html>Not found</html>').message).to.equal(
      'status 404 without a readable message. Its base URL may be wrong.',
    );
  });
});
