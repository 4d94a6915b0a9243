import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { makeCertificate } from '../helpers/certificate.ts';
import { startService, type Service } from './service.ts';
import type { UpstreamResponse } from './upstream.ts';

interface Line {
  readonly event?: string;
  readonly level: string;
  readonly kind?: string;
  readonly cause?: string;
  readonly [name: string]: unknown;
}

const secret = 'sk-upstream-0123456789abcdef';
const failing = (status: number, headers: Record<string, string> = {}): UpstreamResponse => ({
  status,
  headers,
  body: { error: { message: `No, says ${secret} today.` } },
});

describe('failed calls to providers', () => {
  let service: Service;
  let secretOfKey: string;
  let baseUrl: string | undefined;
  before(async () => {
    service = await startService();
    service.host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'openai'
        ? { ...settings, api_key: secret, ...(baseUrl !== undefined && { base_url: baseUrl }) }
        : settings,
    );
    const { out } = await service.host.cli(
      'svc',
      'key',
      'create',
      '--name=Warehouse',
      '--routes=generate,embeddings,images,openai',
      '--json',
    );
    secretOfKey = (JSON.parse(out) as { key: string }).key;
  });
  afterEach(() => {
    baseUrl = undefined;
  });
  after(() => service.stop());

  const messages = [{ role: 'user', content: 'Hello' }];
  const doors: Record<string, readonly [string, object, string]> = {
    generate: ['svc/v1/generate', { provider: 'openai', model: 'gpt-4o-mini', messages }, 'text'],
    embeddings: ['svc/v1/embeddings', { provider: 'openai', model: 'text-embedding-3-small', input: 'a' }, 'embedding'],
    images: ['svc/v1/images/generate', { provider: 'openai', model: 'dall-e-2', prompt: 'A', n: 2 }, 'image'],
    'chat/completions': ['svc-openai/v1/chat/completions', { model: 'openai/gpt-4o-mini', messages }, 'text'],
    'streamed chat/completions': [
      'svc-openai/v1/chat/completions',
      { model: 'openai/gpt-4o-mini', messages, stream: true },
      'text',
    ],
  };
  let requests = 0;

  /** The lines of a request that came in at a door, and those about failed calls. */
  async function linesOf(door: string, meanwhile: () => Promise<unknown> = () => Promise.resolve()) {
    const [path, body, use] = doors[door]!;
    const id = `request-${String((requests += 1))}`;
    const begin = service.host.logged.length;
    const headers = { authorization: `Bearer ${secretOfKey}`, 'content-type': 'application/json', 'x-request-id': id };
    const done = service.host.fetch(`/wp-json/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await meanwhile();
    const text = await (await done).text();
    const written = service.host.logged.slice(begin).join('');
    const lines = written
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
    const failed = lines.filter(({ event }) => event === 'provider_call_failed');
    return { id, use, text, written, lines, failed };
  }

  const kinds: Record<string, readonly [UpstreamResponse, kind: string, level: string]> = {
    'a wrong key': [failing(401), 'auth', 'error'],
    'no credits': [failing(402), 'rejected', 'warn'],
    'a limit of the rate': [failing(429, { 'retry-after': '60' }), 'rate_limited', 'warn'],
    'a refusal': [failing(400), 'rejected', 'warn'],
    'an outage': [failing(503), 'unavailable', 'warn'],
    'something unreadable': [{ body: { object: 'something else' } }, 'unreadable', 'warn'],
    'a lost connection': [{ instead: 'cut' }, 'connection', 'warn'],
  };
  for (const door of Object.keys(doors))
    for (const [title, [answer, kind, level]] of Object.entries(kinds))
      it(`have one line in the log: ${title}, ${door}`, async () => {
        service.upstream.answer(answer);
        const { id, use, written, failed } = await linesOf(door);
        expect(failed, written).to.have.length(1);
        expect(failed[0]).to.include({ level, kind, use, provider: 'openai', request_id: id, caller: 'Warehouse' });
        expect(failed[0]?.['model']).to.be.a('string');
        expect(failed[0]?.['module']).to.equal('rest');
        expect(failed[0]?.cause).to.be.a('string').and.not.equal('');
        expect(written).not.to.contain(secret);
      });

  it('have one line after a time limit', async () => {
    service.upstream.answer({ instead: 'hang' });
    const { id, failed } = await linesOf('generate', async () => {
      await service.upstream.asked();
      await service.clock.advance(60_000);
    });
    expect(failed).to.have.length(1);
    expect(failed[0]).to.include({ level: 'warn', kind: 'timeout', request_id: id });
  });

  it('name the code of a certificate in the line and in the response, after one attempt', async () => {
    const server = createServer(makeCertificate(), (_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `https://localhost:${String((server.address() as AddressInfo).port)}/v1`;
    try {
      const { failed, lines, text } = await linesOf('generate');
      expect(failed).to.have.length(1);
      expect(failed[0]).to.include({ kind: 'connection', error_code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
      expect(lines.filter(({ event }) => event === 'upstream_retried')).to.deep.equal([]);
      for (const told of [failed[0]?.cause, text])
        expect(told).to.contain('certificate could not be verified (DEPTH_ZERO_SELF_SIGNED_CERT)');
    } finally {
      server.close();
    }
  });

  it('have a line where only a part of the images failed', async () => {
    const image = { created: 1, data: [{ b64_json: 'iVBORw0KGgoAAAANSUhEUg==' }] };
    service.upstream.answer({ body: image }, failing(400));
    doors['some images'] = [
      'svc/v1/images/generate',
      { provider: 'openai', model: 'dall-e-3', prompt: 'A', n: 2, response_format: 'b64_json' },
      'image',
    ];
    const { failed, text } = await linesOf('some images');
    expect(text).to.contain('1 image generated. 1 of 2 failed');
    expect(failed).to.have.length(1);
    expect(failed[0]).to.include({ kind: 'rejected', use: 'image' });
  });

  it('have no line where nothing was sent', async () => {
    doors['a blank text'] = [
      'svc/v1/generate',
      { provider: 'openai', model: 'm', messages: [{ role: 'user', content: ' ' }] },
      'text',
    ];
    expect((await linesOf('a blank text')).failed).to.deep.equal([]);
  });
});
