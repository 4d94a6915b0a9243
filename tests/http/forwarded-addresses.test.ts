import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { readForwardedAddresses } from '../../host/http/forwarded-addresses.ts';

const read = (header: string | string[] | undefined): string | string[] | undefined => {
  const headers = { ...(header !== undefined && { 'x-forwarded-for': header as string }) };
  readForwardedAddresses({ headers, socket: { remoteAddress: '198.51.100.9' } as never });
  return (headers as Record<string, string>)['x-forwarded-for'];
};

describe('addresses that proxies forward', () => {
  for (const [given, expected] of [
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7:54321', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ,10.0.0.1:80', '203.0.113.7, 10.0.0.1'],
    ['unknown', '198.51.100.9'],
    ['_hidden:80, 10.0.0.1', '198.51.100.9, 10.0.0.1'],
    ['', '198.51.100.9'],
    ['999.1.1.1', '198.51.100.9'],
    ['1', '198.51.100.9'],
    ['203.0.113.7:54321:1', '198.51.100.9'],
    ['<script>', '198.51.100.9'],
  ] as const)
    it(`are read without ports and brackets: ${given || 'nothing'}`, () => {
      expect(read(given)).to.equal(expected);
    });

  it('are left out where the header is missing', () => {
    expect(read(undefined)).to.equal(undefined);
  });

  describe('of one visitor whose port changes', () => {
    let host: TestHost;
    before(async () => {
      host = await createTestHost({ env: { TRUST_PROXY: '1', SITE_URL: 'https://www.example.com' } });
      await host.options.update('rest_requests_per_minute', 5);
    });
    after(() => host.stop());

    it('count as one for the limit of requests, and for wrong passwords', async () => {
      const from = (port: number): Record<string, string> => ({ 'x-forwarded-for': `203.0.113.7:${String(port)}` });
      const calls: number[] = [];
      for (let port = 1; port <= 8; port += 1)
        calls.push((await host.fetch('/wp-json/wp/v2/types', { headers: from(port) })).status);
      expect(calls).to.deep.equal([200, 200, 200, 200, 200, 429, 429, 429]);
      const signIns: number[] = [];
      for (let port = 1; port <= 12; port += 1)
        signIns.push(
          (
            await host.fetch('/admin/login', {
              method: 'POST',
              redirect: 'manual',
              headers: { ...from(port), 'content-type': 'application/x-www-form-urlencoded' },
              body: 'login=ada&password=wrong',
            })
          ).status,
        );
      expect(signIns.slice(0, 10)).not.to.include(429);
      expect(signIns.slice(10)).to.deep.equal([429, 429]);
    });
  });
});
