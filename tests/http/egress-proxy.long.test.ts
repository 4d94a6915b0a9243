import { createServer, type Server } from 'node:https';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeCertificate } from '../helpers/certificate.ts';
import { startConnectProxy, type ConnectProxy } from '../helpers/connect-proxy.ts';
import { startSite, type RunningSite } from '../helpers/running-site.ts';
import { becomes } from '../helpers/until.ts';

const restKey = 'key-of-tests-0123456789abcdef';

describe('a site in a network that lets nothing out but through its proxy, with an authority of its own', () => {
  let folder: string;
  let proxy: ConnectProxy;
  let upstream: Server;
  let site: RunningSite;
  const seen: string[] = [];

  before(async function () {
    this.timeout(120_000);
    folder = await mkdtemp(join(tmpdir(), 'svc-proxy-'));
    const { key, cert } = makeCertificate('models.example', 'hooks.example');
    await writeFile(join(folder, 'authority.pem'), cert);
    upstream = createServer({ key, cert }, (request, response) => {
      request.resume();
      request.on('end', () => {
        seen.push(`${String(request.method)} ${String(request.headers.host)}${String(request.url)}`);
        response.setHeader('content-type', 'application/json');
        response.end(
          JSON.stringify({
            model: 'gpt-4o-mini',
            choices: [{ message: { content: 'Through the proxy.' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          }),
        );
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    proxy = await startConnectProxy();
    for (const name of ['models.example:443', 'hooks.example:443']) proxy.names.set(name, port);
    site = await startSite({
      HTTPS_PROXY: proxy.url.replace('//', '//site:secret@'),
      NO_PROXY: 'direct.example',
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
    });
    await site.cli('plugin', 'activate', 'svc');
    await site.cli('svc', 'key', 'set', restKey);
    await site.cli('svc', 'provider', 'set', 'openai', '--api-key=sk-test', '--base-url=https://models.example/v1');
  });
  after(async () => {
    await site.stop();
    await proxy.stop();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    await rm(folder, { recursive: true });
  });

  const generate = async (): Promise<{ readonly content?: string }> => {
    const response = await fetch(`${site.url}/wp-json/svc/v1/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ provider: 'openai', model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    return (await response.json()) as { readonly content?: string };
  };

  it('calls providers and endpoints whose names this machine cannot resolve', async function () {
    this.timeout(60_000);
    // The running site hears of what commands saved within a second.
    await becomes(async () => (await generate()).content, 'Through the proxy.');
    const endpoint = { name: 'Hook', url: 'https://hooks.example/in', events: ['chatbot.session_started'] };
    const added = await site.cli('svc', 'webhook', 'add', '--json', JSON.stringify(endpoint));
    await site.cli('svc', 'webhook', 'on');
    const { id } = JSON.parse(added) as { readonly id: string };
    expect(await site.cli('svc', 'webhook', 'test', id)).to.include('200');
    expect(seen).to.deep.equal(['POST models.example/v1/chat/completions', 'POST hooks.example/in']);
    const authorization = `Basic ${Buffer.from('site:secret').toString('base64')}`;
    expect(proxy.asked).to.deep.equal([
      { target: 'models.example:443', authorization },
      { target: 'hooks.example:443', authorization },
    ]);
  });

  it('shows the proxy without its password', async () => {
    const printed = await site.cli('config');
    expect(printed).to.match(/HTTPS_PROXY\s+http:\/\/127\.0\.0\.1:\d+/);
    expect(printed + site.output()).to.not.include('secret@');
  });
});
