import { expect } from 'chai';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { connectionFailure, isUnsent } from '../../../plugins/svc/kit/upstream-error.ts';
import { providerFailure } from '../../../plugins/svc/ai/upstream-failure.ts';
import { errorFromResponse } from '../../../plugins/svc/providers/provider-errors.ts';

const error = (status: number, body: unknown) =>
  errorFromResponse({ status, headers: new Headers(), body }, { settings: {}, clock: createFakeClock() });

describe('errors of providers', () => {
  for (const [title, status, body, code] of [
    ['an account without credits', 402, { error: { message: 'Insufficient credits' } }, 'rest_svc_provider_error'],
    ['a page to sign in', 302, '', 'rest_svc_provider_error'],
    ['an address that moved', 307, '', 'rest_svc_provider_error'],
    [
      'a used-up quota',
      429,
      { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
      'rest_svc_provider_rate_limited',
    ],
    [
      "a wrong key, in Google's words",
      400,
      { error: { code: 400, message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] } },
      'rest_svc_provider_auth_failed',
    ],
  ] as const)
    it(`are not tried again for ${title}, neither here nor by clients`, () => {
      const thrown = error(status, body);
      const failure = providerFailure(thrown, { id: 'acme', label: 'Acme' }, 60_000);
      expect([thrown.retryable, failure.code, failure.headers]).to.deep.equal([
        false,
        code,
        { 'x-should-retry': 'false' },
      ]);
    });

  for (const [title, location, where] of [
    ['where it leads', 'https://login.example/sign-in?key=secret#x', ' to https://login.example/sign-in'],
    ['a path', '/v2/chat/completions', ' to /v2/chat/completions'],
    ['that alone, without an address', null, ''],
  ] as const)
    it(`say that the address of the provider redirects, and ${title}`, () => {
      const headers = new Headers(location === null ? {} : { location });
      const redirect = { status: 302, headers, body: '<html>Moved</html>' };
      const thrown = errorFromResponse(redirect, { settings: {}, clock: createFakeClock() });
      expect(providerFailure(thrown, { id: 'acme', label: 'Acme' }, 60_000).message).to.equal(
        `Acme failed: its address redirects${where} (status 302), which is not followed. Save the address that it moved to as its base URL.`,
      );
    });

  it('are tried again for limits of the rate', () => {
    expect(error(429, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }).retryable).to.equal(true);
  });

  for (const code of [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
  ])
    it(`name the code ${code} of a certificate, and what to do`, () => {
      const cause = Object.assign(new Error('unable to verify the first certificate'), { code });
      const found = connectionFailure(new TypeError('fetch failed', { cause }));
      expect(found?.message).to.match(
        new RegExp(`^its certificate could not be verified \\(${code}\\)\\. .*NODE_EXTRA_CA`),
      );
      expect(found?.isFinal).to.equal(true);
      expect(isUnsent(cause)).to.equal(true);
    });
});
