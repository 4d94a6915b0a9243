import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { toFailure } from '../../../../plugins/svc/modules/automations/worker/attempt.ts';

const database = { isUnavailable: (error: unknown) => error instanceof Error && error.message === 'locked' };
const rest = (status: number, headers: Readonly<Record<string, string>> = {}): RestError =>
  new RestError({ code: 'rest_svc_provider_error', status, message: 'OpenAI failed.', headers });

describe('a failed attempt at an item', () => {
  it('is made again after 429 and 5xx, errors of the network, and while the database is away', () => {
    const errors = [
      rest(429),
      rest(500),
      rest(504),
      Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
      new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }),
      new Error('locked'),
      Object.assign(new Error('slow'), { code: 'outbound_timeout' }),
    ];
    expect(errors.map((error) => toFailure(error, database).retryable)).to.deep.equal(errors.map(() => true));
  });

  it('is the last one after anything else, with a reason that holds no keys', () => {
    const errors = [
      rest(400),
      rest(401),
      rest(404),
      new Error('A bug'),
      'a text',
      null,
      Object.assign(new Error('refused'), { code: 'outbound_refused' }),
    ];
    expect(errors.map((error) => toFailure(error, database).retryable)).to.deep.equal(errors.map(() => false));
    expect(toFailure(new Error('The key sk-abcdef1234567890 is wrong.'), database).message).to.equal(
      'The key [redacted] is wrong.',
    );
  });

  it('waits as long as it is asked to, a day at most', () => {
    expect(toFailure(rest(429, { 'Retry-After': '7' }), database).wait).to.equal(7_000);
    expect(toFailure(rest(429, { 'retry-after': '9999999' }), database).wait).to.equal(24 * 3_600_000);
    expect(toFailure(rest(429), database).wait).to.equal(null);
  });
});
