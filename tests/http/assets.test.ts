import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import express from 'express';
import { createClientBundle } from '#plugin-api';
import { buildClientBundle } from '../../host/sources/client-bundles.ts';
import { createAssets } from '../../host/http/assets.ts';
import type { Assets } from '../../host/http/assets.ts';

describe('assets', () => {
  let server: Server;
  let assets: Assets;
  let url: string;
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'assets-'));
    await mkdir(join(directory, 'public/sub'), { recursive: true });
    await writeFile(join(directory, 'public/app.js'), 'let a = 1;');
    await writeFile(join(directory, 'public/style.css'), 'p {}');
    await writeFile(join(directory, 'public/icons.svg'), '<svg/>');
    await writeFile(join(directory, 'public/sub/a b.txt'), 'text');
    await writeFile(join(directory, 'public/.hidden'), 'no');
    await writeFile(join(directory, 'outside.txt'), 'no');
    assets = createAssets();
    server = createServer(express().use('/assets', assets.handler)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(directory, { recursive: true });
  });

  it('are served with their types', async () => {
    assets.add('svc', join(directory, 'public'));
    for (const [file, type] of [
      ['app.js', 'text/javascript; charset=utf-8'],
      ['style.css', 'text/css; charset=utf-8'],
      ['icons.svg', 'image/svg+xml'],
      ['sub/a b.txt', 'text/plain; charset=utf-8'],
    ] as const) {
      const response = await fetch(url + assets.url('svc', file));
      expect(response.status, file).to.equal(200);
      expect(response.headers.get('content-type')).to.equal(type);
    }
  });

  it('of a bundle are sent compressed and cached by their hashes', async () => {
    await writeFile(join(directory, 'main.ts'), 'const text: string = "built"; console.log(text.repeat(99));');
    const bundle = createClientBundle({
      script: join(directory, 'main.ts'),
      styles: join(directory, 'public/style.css'),
    });
    await buildClientBundle(bundle);
    const paths = assets.addBundle('editor', bundle);
    const { script, styles } = await paths();
    const response = await fetch(url + script);
    expect(await response.text()).to.contain('"built"');
    expect(Object.fromEntries(response.headers)).to.include({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
    });
    const plain = await fetch(url + styles.replace(/\?.*/, ''), { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).to.equal(null);
    expect(plain.headers.get('cache-control')).to.equal('public, max-age=0, must-revalidate');
    expect((await fetch(`${url}/assets/editor/main.ts`)).status).to.equal(404);
    expect(() => assets.add('editor', directory)).to.throw('already exist');
  });

  it('of a bundle fail with the reason when it was not built', async () => {
    const bundle = createClientBundle({
      script: join(directory, 'gone.ts'),
      styles: join(directory, 'public/style.css'),
    });
    const paths = assets.addBundle('editor', bundle);
    expect((await paths().catch((error: unknown) => error)) as Error)
      .to.have.property('message')
      .that.contains('Run "npm run build"');
    expect((await fetch(`${url}/assets/editor/script.js`)).status).to.equal(500);
  });

  it('are cached forever under the URL with their hash, and revalidated under any other', async () => {
    assets.add('svc', join(directory, 'public'));
    const first = assets.url('svc', 'app.js');
    expect(first).to.match(/^\/assets\/svc\/app\.js\?v=[0-9a-f]{8}$/);
    expect((await fetch(url + first)).headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
    for (const other of ['/assets/svc/app.js', '/assets/svc/app.js?v=00000000']) {
      const response = await fetch(url + other);
      expect(response.headers.get('cache-control')).to.equal('public, max-age=0, must-revalidate');
      // Not with fetch, which adds "no-cache" to conditional requests.
      const again = await new Promise((resolve) =>
        httpRequest(url + other, { headers: { 'If-None-Match': response.headers.get('etag')! } }, (answer) =>
          resolve(answer.resume().statusCode),
        ).end(),
      );
      expect(again).to.equal(304);
    }
    await writeFile(join(directory, 'public/app.js'), 'let a = 12;');
    expect(assets.url('svc', 'app.js')).to.match(/\?v=/).and.not.to.equal(first);
  });

  it('never leave their folder and show no dotfiles or listings', async () => {
    assets.add('svc', join(directory, 'public'));
    for (const path of [
      '/assets/svc/.hidden',
      '/assets/svc/',
      '/assets/svc',
      '/assets/svc/sub',
      '/assets/svc/%2e%2e/outside.txt',
      '/assets/svc/..%2foutside.txt',
      '/assets/svc/sub/..%5c..%5coutside.txt',
      '/assets/svc/%00',
      '/assets/nope/app.js',
      '/assets/',
    ]) {
      const status = await new Promise((resolve) =>
        httpRequest(`${url}`, { path }, (response) => resolve(response.resume().statusCode)).end(),
      );
      expect(status, path).to.be.oneOf([400, 403, 404]);
    }
    const raw = await new Promise((resolve) =>
      httpRequest(url, { path: '/assets/svc/../outside.txt' }, (response) =>
        resolve(response.resume().statusCode),
      ).end(),
    );
    expect(raw).to.be.oneOf([400, 403, 404]);
    expect(() => assets.url('svc', '../outside.txt')).to.throw(/leads out of the folder 'assets' of 'svc'/);
  });

  it('are removed by their undo, and a slug is unique', async () => {
    const undo = assets.add('svc', join(directory, 'public'));
    expect(() => assets.add('svc', directory)).to.throw(/already/);
    expect(() => assets.add('../x', directory)).to.throw(/lower-case/);
    undo();
    expect((await fetch(`${url}/assets/svc/app.js`)).status).to.equal(404);
    assets.add('svc', join(directory, 'public'));
    undo();
    expect((await fetch(`${url}/assets/svc/app.js`)).status).to.equal(200);
  });

  it('work from a folder reached through a link', async () => {
    await symlink(join(directory, 'public'), join(directory, 'linked'));
    assets.add('linked', join(directory, 'linked'));
    expect((await fetch(url + assets.url('linked', 'app.js'))).status).to.equal(200);
  });

  it('are not what links lead to outside of the folder', async () => {
    await symlink(join(directory, 'outside.txt'), join(directory, 'public/file.txt'));
    await symlink(directory, join(directory, 'public/up'));
    await symlink(join(directory, 'public/app.js'), join(directory, 'public/inside.js'));
    assets.add('links', join(directory, 'public'));
    for (const path of ['file.txt', 'up/outside.txt', 'up/public/../outside.txt', '%66ile.txt'])
      expect((await fetch(`${url}/assets/links/${path}`)).status, path).to.equal(404);
    expect(assets.url('links', 'file.txt'), 'without a hash of the content').to.equal('/assets/links/file.txt');
    expect((await fetch(`${url}/assets/links/inside.js`)).status).to.equal(200);
  });
});
