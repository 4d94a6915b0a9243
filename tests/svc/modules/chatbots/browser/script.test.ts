import { gunzipSync } from 'node:zlib';
import { request as send } from 'node:http';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { chatBundle, widgetBundle } from '../../../../../plugins/svc/modules/chatbots/browser/bundle.ts';
import { createMigratedHost } from '../../../../helpers/migrated.ts';

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

describe('script and styles of the widget', () => {
  let host: TestHost;

  /** By node:http, which unpacks nothing. */
  const get = (path: string, headers: Record<string, string> = {}): Promise<Got> =>
    new Promise((resolve, reject) => {
      send(`${host.url}/wp-json/svc-widget/v1/${path}`, { headers, agent: false }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Got['headers'],
            body: Buffer.concat(pieces),
          }),
        );
      })
        .on('error', reject)
        .end();
    });

  before(async () => {
    host = await createMigratedHost({ plugins: ['svc'] });
  });
  after(() => host.stop());

  it('weigh at most 8 KB before the window is opened, and 40 KB in all', async () => {
    const [button, window] = await Promise.all([widgetBundle(), chatBundle()]);
    const [first, second] = [button.script.gzipped.length, window.script.gzipped.length];
    console.log(`      widget.js: ${first} bytes gzipped, chat.js: ${second}, together ${first + second}`);
    expect(first).to.be.at.most(8_000);
    expect(first + second).to.be.at.most(40_000);
  });

  it('are the same on every node', async () => {
    for (const bundle of [widgetBundle, chatBundle]) {
      const { script } = await bundle();
      expect(gunzipSync(script.gzipped).equals(script.content)).to.equal(true);
      expect(script.hash).to.match(/^[\da-f]{16}$/);
      expect(script.content.toString()).to.not.match(/sourceMappingURL|\/work\/|node_modules/);
    }
  });

  it('are served to pages of any site, compressed if accepted', async () => {
    for (const [file, type] of [
      ['widget.js', 'text/javascript; charset=utf-8'],
      ['widget.css', 'text/css; charset=utf-8'],
      ['chat.js', 'text/javascript; charset=utf-8'],
      ['chat.css', 'text/css; charset=utf-8'],
    ] as const) {
      const packed = await get(file, { 'Accept-Encoding': 'br, gzip;q=0.8', Origin: 'https://elsewhere.example' });
      expect(packed.status).to.equal(200);
      expect(packed.headers).to.include({
        'content-type': type,
        'content-encoding': 'gzip',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'x-content-type-options': 'nosniff',
      });
      expect(packed.headers).to.not.have.property('access-control-allow-credentials');
      expect(packed.headers['vary']).to.contain('Accept-Encoding');
      const plain = await get(file, { 'Accept-Encoding': 'gzip;q=0' });
      expect(plain.headers).to.not.have.property('content-encoding');
      expect(gunzipSync(packed.body).equals(plain.body)).to.equal(true);
    }
  });

  it('are cached for minutes at their plain address, and for a year with the hash of their content', async () => {
    const { hash } = (await widgetBundle()).script;
    expect((await get('widget.js')).headers['cache-control'])
      .to.contain('max-age=300')
      .and.not.contain('immutable');
    expect((await get('widget.js?v=0000000000000000')).headers['cache-control']).to.contain('max-age=300');
    expect((await get(`widget.js?v=${hash}`)).headers['cache-control']).to.equal('public, max-age=31536000, immutable');
  });

  it('are of one version: the button names the window that was built with it', async () => {
    const [button, window] = await Promise.all([widgetBundle(), chatBundle()]);
    expect(button.script.content.toString()).to.contain(window.script.hash);
    const answer = await get(`chat.js?v=${window.script.hash}&t=0`);
    expect(answer.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
    // The script at the plain address is asked for again after minutes, not shown for another day.
    expect((await get('widget.js')).headers['cache-control']).to.not.contain('stale');
  });

  it('are not sent again to browsers that have them', async () => {
    const first = await get('widget.js');
    for (const tag of [first.headers['etag'] ?? '', `"other", ${first.headers['etag']?.replace('W/', '')}`]) {
      const again = await get('widget.js', { 'If-None-Match': tag });
      expect([again.status, again.body.length]).to.deep.equal([304, 0]);
      expect(again.headers['etag']).to.equal(first.headers['etag']);
    }
    expect((await get('widget.js', { 'If-None-Match': '"older"' })).status).to.equal(200);
  });
});
