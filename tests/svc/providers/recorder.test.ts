import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { provider as openai } from '../../../plugins/svc/providers/openai.provider.ts';
import type { Provider } from '../../../plugins/svc/providers/provider.ts';
import { record, replay, type Recording } from '../../conformance/recorder.ts';
import { fixturesOf, streamOf } from '../../conformance/upstream.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { silentLog } from '../../helpers/silent-log.ts';

const key = 'sk-proj-planted-0123456789';

/** Sends the recorded requests to a replay, and expects of each what a provider makes of such a response. */
async function expectReplayed(provider: Provider, recording: Recording): Promise<void> {
  const server = await replay(recording);
  try {
    const again = await record({
      provider,
      settings: { api_key: 'another key', base_url: server.url + recording.base },
      model: recording.model,
    });
    expect(again.exchanges).to.deep.equal(recording.exchanges);
  } finally {
    await server.stop();
  }
}

describe('recordings of vendors', () => {
  let server: Server;
  let url: string;
  let leak = '';
  beforeEach(async () => {
    leak = '';
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        response.setHeader('openai-organization', 'org-planted1234567');
        response.setHeader('x-request-id', 'req_1');
        const { answer, models } = fixturesOf('openai');
        const send = (status: number, value: unknown): void =>
          void response
            .writeHead(status, { 'content-type': 'application/json' })
            .end(JSON.stringify({ ...(value as object), ...(leak !== '' && { leak }) }));
        if (request.method === 'GET') return send(200, models);
        if (body.includes('no-such-model'))
          return send(404, {
            error: { message: `No such model for ${key} of org-planted1234567.`, code: 'model_not_found' },
          });
        if (!body.includes('"stream":true')) return send(200, answer);
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf('openai'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v1`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const settings = () => ({ api_key: key, base_url: url });

  it('hold what the vendor returns to the models, a text, a stream and an unknown model, and no secret', async () => {
    const recording = await record({ provider: openai, settings: settings(), model: 'gpt-4.1' });
    expect(recording.exchanges.map(({ name, status }) => [name, status])).to.deep.equal([
      ['models', 200],
      ['text', 200],
      ['stream', 200],
      ['unknown model', 404],
    ]);
    const [models, text, stream, unknown] = recording.exchanges;
    expect(JSON.parse(models?.response ?? '')).to.deep.equal(fixturesOf('openai').models);
    expect(JSON.parse(text?.request ?? '')).to.include({ model: 'gpt-4.1' });
    expect(stream?.response).to.equal(streamOf('openai'));
    expect(unknown?.response).to.contain('No such model for [removed] of [removed]');
    expect(JSON.stringify(recording)).not.to.match(/planted|organization|req_1|authorization/i);
  });

  it('are replayed to the provider, which sends the same and reads the same', async () => {
    await expectReplayed(openai, await record({ provider: openai, settings: settings(), model: 'gpt-4.1' }));
  });

  it('are not made where a secret would be left in them', async () => {
    leak = Buffer.from(key).toString('base64');
    expect(String(await failureOf(record({ provider: openai, settings: settings(), model: 'gpt-4.1' })))).to.contain(
      'A secret is left',
    );
  });

  const folder = new URL('../../fixtures/providers/recorded/', import.meta.url);
  for (const file of existsSync(folder) ? readdirSync(folder) : [])
    it(`of ${file} are read by the provider as it is now`, async () => {
      const recording = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recording;
      const { provider } = (await import(`../../../plugins/svc/providers/${recording.provider}.provider.ts`)) as {
        provider: Provider;
      };
      const replayed = await replay(recording);
      try {
        const result = await provider.text?.generate(
          {
            ...{ model: recording.model, system: 'Answer in one word.', params: {} },
            messages: [{ role: 'user', content: 'Say hello in French.' }],
          },
          {
            settings: { api_key: 'another key', base_url: replayed.url + recording.base },
            ...{ fetch, clock: createSystemClock(), log: silentLog, timeout: 20_000 },
          },
        );
        expect(result?.content).not.to.equal('');
        expect(result?.usage?.total_tokens).to.be.greaterThan(0);
      } finally {
        await replayed.stop();
      }
    });
});
