import { expect } from 'chai';
import { upstreamThrough } from '../helpers/upstream-http.ts';
import { createGenerateText } from '../../plugins/svc/ai/generate-text.ts';
import type { RestError } from '#plugin-api';
import { findFakeProvider, fakeProviders } from '../../plugins/sandbox/fakes.ts';
import { createSystemClock } from '../../host/clock.ts';
import { services } from '../svc/ai/helpers.ts';
import { openSandbox, type OpenSandbox } from './helpers/open-sandbox.ts';

describe('streams of the sandbox', () => {
  let sandbox: OpenSandbox;
  beforeEach(async () => {
    sandbox = await openSandbox();
  });
  afterEach(() => sandbox.close());

  /** The service itself as caller, over its own providers. */
  async function streaming(id: string, model: string) {
    const settings = {
      provider: () => Promise.resolve(findFakeProvider(id)!.settings(`${sandbox.url}/${id}`, {})),
      timeouts: () => Promise.resolve({ text: 5000, embeddings: 5000, images: 5000 }),
    };
    const given = await services({ settings });
    const pieces: string[] = [];
    let first: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      first = resolve;
    });
    const { host, ...rest } = given;
    // Long enough to have its middle in the text, where the model reasons aloud before.
    const said = 'one two three four five six seven eight nine ten eleven '.repeat(8).concat('twelve');
    const generateText = createGenerateText({
      ...rest,
      upstream: upstreamThrough(fetch),
      host: { ...host, clock: createSystemClock() },
    });
    const done = generateText({
      provider: id,
      model,
      messages: [{ role: 'user', content: `echo: ${said}` }],
      onText: (piece) => {
        pieces.push(piece);
        first();
      },
    });
    return {
      pieces,
      begun,
      done: done.then(
        (text) => ({ text, error: null }),
        (error: unknown) => ({ text: null, error: error as RestError }),
      ),
    };
  }

  for (const { id, models } of fakeProviders) {
    describe(id, () => {
      it('come in pieces, with the usage', async () => {
        if (id === 'ollama') {
          // The first text of a local model is held back until it is clear that it has no reasoning without a tag. A model
          // of its name was not seen by this process before.
          const first = await streaming(id, 'seen-by-no-other-test');
          const { text: held } = await first.done;
          expect(first.pieces).to.deep.equal([held?.content]);
          await (
            await streaming(id, models[0]!)
          ).done;
        }
        const { pieces, done } = await streaming(id, models[0]!);
        const { text } = await done;
        expect(text?.content).to.match(/^one two three .* twelve$/);
        expect(pieces.join('')).to.equal(text?.content);
        expect(pieces.length).to.be.greaterThan(2);
        expect(text?.usageEstimated).to.equal(false);
        expect(text?.usage.output_tokens).to.be.greaterThan(10);
      });

      it('keep the pace of the fault settings', async () => {
        sandbox.turn({ pace_ms: 1000 });
        const { pieces, done } = await streaming(id, models[0]!);
        let isDone = false;
        void done.then(() => {
          isDone = true;
        });
        const next = async (): Promise<void> => {
          while (sandbox.clock.pending() === 0 && !isDone) await new Promise((resolve) => setImmediate(resolve));
          await sandbox.clock.advance(1000);
        };
        while (pieces.length === 0) await next();
        expect(isDone).to.equal(false);
        while (!isDone) await next();
        expect((await done).text?.content).to.contain('twelve');
      });

      it('break off in the middle, once there was text', async () => {
        sandbox.turn({ fault: 'cut' });
        const { pieces, done } = await streaming(id, models[0]!);
        expect((await done).error?.code).to.equal('rest_svc_provider_error');
        expect(pieces.join(''))
          .to.match(/^one two three /)
          .and.not.to.contain('twelve');
      });

      it('end in the middle with the provider’s error', async () => {
        await (
          await streaming(id, models[0]!)
        ).done;
        sandbox.turn({ fault: 'error' });
        const { pieces, done } = await streaming(id, models[0]!);
        const { error } = await done;
        expect([error?.code, (error?.data as { provider_status: number }).provider_status >= 500]).to.deep.equal([
          'rest_svc_provider_error',
          true,
        ]);
        expect(pieces.join(''))
          .to.match(/^one two three /)
          .and.not.to.contain('twelve');
      });

      it('stand still in the middle', async () => {
        sandbox.turn({ fault: 'slow', delay_ms: 5000 });
        const { pieces, begun, done } = await streaming(id, models[0]!);
        await begun;
        while (sandbox.clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
        expect(pieces.join('')).not.to.contain('twelve');
        await sandbox.clock.advance(5000);
        expect((await done).text?.content).to.contain('twelve');
      });
    });
  }
});
