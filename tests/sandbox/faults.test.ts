import { expect } from 'chai';
import OpenAI from 'openai';
import { addresses, call } from './helpers/call.ts';
import { openSandbox } from './helpers/open-sandbox.ts';
import type { OpenSandbox } from './helpers/open-sandbox.ts';
import { speakers } from './helpers/speakers.ts';

describe('fault injection', () => {
  let sandbox: OpenSandbox;
  beforeEach(async () => {
    sandbox = await openSandbox();
  });
  afterEach(() => sandbox.close());

  for (const address of addresses) {
    const send = (model = 'any-model') =>
      call(sandbox.url + address.path(model), { headers: address.headers('sandbox'), body: address.body(model) });

    describe(address.path('{deployment}').split('?')[0]!, () => {
      it('gives 429 with Retry-After', async () => {
        sandbox.turn({ fault: '429' });
        const { status, headers, json } = await send();
        expect(status).to.equal(429);
        expect(headers.get('retry-after')).to.equal('1');
        expect(json).to.have.property('error');
      });

      it("gives 500 in the provider's shape", async () => {
        sandbox.turn({ fault: '500' });
        const { status, json } = await send();
        expect(status).to.equal(500);
        expect(json).to.have.property('error');
      });

      it('gives garbage under a JSON content type', async () => {
        sandbox.turn({ fault: 'garbage' });
        const { status, headers, json } = await send();
        expect(status).to.equal(200);
        expect(headers.get('content-type')).to.contain('application/json');
        expect(json).to.equal(undefined);
      });

      it('cuts the connection in mid-body', async () => {
        sandbox.turn({ fault: 'cut' });
        let thrown: unknown;
        await send().catch((error: unknown) => {
          thrown = error;
        });
        expect(thrown).to.be.instanceOf(TypeError);
      });

      it('answers slowly: not before the delay is over', async () => {
        sandbox.turn({ fault: 'slow', delay_ms: 5000 });
        let answered = false;
        const answer = send().then((called) => {
          answered = true;
          return called;
        });
        while (sandbox.clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
        await sandbox.clock.advance(4999);
        expect(answered).to.equal(false);
        await sandbox.clock.advance(1);
        expect((await answer).status).to.equal(200);
      });

      it('is overruled by a model name that forces a fault', async () => {
        expect((await send('fault-429')).status).to.equal(429);
        expect((await send('fault-500')).status).to.equal(500);
        expect((await send('fault-garbage')).json).to.equal(undefined);
        await send('fault-cut').then(
          () => expect.fail('The connection was not cut.'),
          () => {},
        );
        sandbox.turn({ fault: '500' });
        expect((await send('fault-none')).status).to.equal(200);
      });
    });
  }

  for (const speaker of speakers) {
    it(`reaches the SDK of ${speaker.name} as an error, whole and streamed`, async () => {
      for (const fault of ['429', '500', 'cut', 'garbage'] as const) {
        sandbox.turn({ fault });
        for (const ask of [speaker.ask, speaker.stream]) {
          let outcome: unknown = 'no error';
          await ask(sandbox.url, { model: speaker.model, prompt: 'Hello' }).then(
            (asked) => {
              outcome = asked;
            },
            (error: unknown) => {
              outcome = error;
            },
          );
          // A stream of garbage holds no events: some SDKs take it for an empty stream.
          if (fault === 'garbage' && ask === speaker.stream && !(outcome instanceof Error))
            expect(outcome).to.have.property('text', '');
          else expect(outcome, `${fault} ${JSON.stringify(outcome)}`).to.be.instanceOf(Error);
          if ((fault === '429' || fault === '500') && outcome instanceof Error)
            expect(outcome).to.have.property('status', Number(fault));
        }
      }
    });
  }

  it('gives the SDK the seconds to wait', async () => {
    sandbox.turn({ fault: '429' });
    const client = new OpenAI({ apiKey: 'sandbox', baseURL: `${sandbox.url}/openai/v1`, maxRetries: 0 });
    const error = await client.models.list().then(
      () => null,
      (thrown: unknown) => thrown as InstanceType<typeof OpenAI.RateLimitError>,
    );
    expect(error).to.be.instanceOf(OpenAI.RateLimitError);
    expect(error!.headers.get('retry-after')).to.equal('1');
  });

  it('strikes the share of requests it is set to, the same ones for the same seed', async () => {
    const series = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let index = 0; index < 40; index += 1) {
        statuses.push(
          (await call(`${sandbox.url}/openai/v1/models`, { headers: { authorization: 'Bearer sandbox' } })).status,
        );
      }
      return statuses;
    };
    sandbox.turn({ fault: '500', rate: 0.3, seed: 7 });
    const first = await series();
    sandbox.turn({ fault: 'none' });
    await series();
    sandbox.turn({ fault: '500', rate: 0.3, seed: 7 });
    expect(await series()).to.deep.equal(first);
    expect(first.filter((status) => status === 500)).to.have.lengthOf.within(4, 20);
    sandbox.turn({ fault: '500', rate: 0 });
    expect(new Set(await series())).to.deep.equal(new Set([200]));
  });

  it('does not strike a request without the right key', async () => {
    sandbox.turn({ fault: '500' });
    expect((await call(`${sandbox.url}/openai/v1/models`)).status).to.equal(401);
  });
});
