import { expect } from 'chai';
import { RestResponse } from '#plugin-api';
import type { TestHost } from '#testing';
import { createMigratedHost } from '../helpers/migrated.ts';

describe('the security headers of a site with https', () => {
  let host: TestHost;
  before(async () => {
    host = await createMigratedHost({ plugins: ['svc'], env: { SITE_URL: 'https://shop.example' } });
    host.rest.registerRoute('headers/v1', '/fails', {
      handler: () => {
        throw new Error('Not for callers.');
      },
    });
    host.rest.registerRoute('headers/v1', '/stream', {
      handler: () => {
        return new RestResponse({
          headers: { 'Content-Type': 'text/event-stream' },
          content: (async function* () {
            yield 'data: 1\n\n';
          })(),
        });
      },
    });
  });
  after(() => host.stop());

  const cases: readonly (readonly [path: string, status: number, init?: RequestInit])[] = [
    ['/', 200],
    ['/nowhere', 404],
    ['/%E0%A4%A', 404],
    ['/feed', 200],
    ['/healthz', 200],
    ['/readyz', 200],
    ['/metrics', 200],
    ['/admin/login', 200],
    ['/admin/plugins', 302],
    ['/assets/admin/admin.css', 200],
    ['/assets/none/none.js', 404],
    ['/wp-json/', 200],
    ['/wp-json/', 200, { method: 'OPTIONS' }],
    ['/?rest_route=/wp/v2/types', 200],
    ['/wp-json/nowhere', 404],
    ['/wp-json/wp/v2/settings', 401],
    ['/wp-json/svc/v1/generate', 401, { method: 'POST' }],
    ['/wp-json/headers/v1/fails', 500],
    ['/wp-json/headers/v1/stream', 200],
    ['/wp-json/svc-widget/v1/widget.js', 200],
    ['/wp-json/svc-widget/v1/widget.css', 200],
  ];
  for (const [path, status, init = {}] of cases) {
    it(`are on ${init.method ?? 'GET'} ${path} (${status})`, async () => {
      const response = await host.fetch(path, { redirect: 'manual', ...init });
      await response.text();
      expect(response.status).to.equal(status);
      const { headers } = response;
      expect(headers.get('strict-transport-security')).to.equal('max-age=63072000');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.match(/^default-src '(self|none)'/);
    });
  }

  it('let other sites load the widget', async () => {
    for (const file of ['widget.js', 'widget.css', 'chat.js']) {
      const { status, headers } = await host.fetch(`/wp-json/svc-widget/v1/${file}`);
      expect([status, headers.get('cross-origin-resource-policy')], file).to.deep.equal([200, 'cross-origin']);
    }
  });
});
