import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { openSite, type RoutesSite } from '../users/routes-site.ts';

describeHosts('the setting rest_allowed_origins', (dialectCase) => {
  let site: RoutesSite;
  beforeEach(async () => {
    site = await openSite(dialectCase);
  });
  afterEach(() => site.host.stop());

  const allowedFor = async (origin: string, { host } = site): Promise<string | null> => {
    const response = await host.fetch('/wp-json/', { headers: { origin } });
    // A host that stops waits for responses that are not read to their end.
    await response.arrayBuffer();
    return response.headers.get('access-control-allow-origin');
  };

  it('allows scripts of the listed origins to read responses, as soon as it changes', async () => {
    expect(await allowedFor('https://shop.example.com')).to.equal(null);
    await site.host.options.update('rest_allowed_origins', ['HTTPS://Shop.example.com/', 'http://localhost:8080']);
    expect(await site.host.options.get('rest_allowed_origins')).to.deep.equal([
      'https://shop.example.com',
      'http://localhost:8080',
    ]);
    expect(await allowedFor('https://shop.example.com')).to.equal('https://shop.example.com');
    expect(await allowedFor('https://other.example.com')).to.equal(null);
    await site.host.options.delete('rest_allowed_origins');
    expect(await allowedFor('https://shop.example.com')).to.equal(null);
  });

  it('holds on another node within a second, and after a start', async () => {
    const other = await openSite(dialectCase);
    try {
      expect(await allowedFor('https://shop.example.com')).to.equal(null);
      await other.host.options.update('rest_allowed_origins', ['https://shop.example.com']);
      // Processes poll for each other's changes or are notified, which may take longer on a busy machine.
      await site.host.clock.advance(999);
      while ((await allowedFor('https://shop.example.com')) === null)
        await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await allowedFor('https://shop.example.com')).to.equal('https://shop.example.com');
    } finally {
      await other.host.stop();
    }
    await site.host.stop();
    site = await openSite(dialectCase);
    expect(await allowedFor('https://shop.example.com')).to.equal('https://shop.example.com');
  });

  it('refuses invalid origins, with a message', async () => {
    for (const wrong of ['shop.example.com', 'https://*.example.com', 'https://example.com/path', '*']) {
      const error = (await failureOf(site.host.options.update('rest_allowed_origins', [wrong]))) as {
        code: string;
        data: { params: Record<string, string> };
      };
      expect([error.code, error.data.params['rest_allowed_origins']]).to.deep.equal([
        'rest_invalid_param',
        `'${wrong}' is not an origin. Enter scheme and host, with a port if needed, such as https://shop.example.com:8443.`,
      ]);
    }
  });
});
