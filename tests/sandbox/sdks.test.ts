import { expect } from 'chai';
import { openSandbox } from './helpers/open-sandbox.ts';
import type { OpenSandbox } from './helpers/open-sandbox.ts';
import { speakers } from './helpers/speakers.ts';

describe('the sandbox, asked through the real SDKs', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());

  for (const speaker of speakers) {
    describe(speaker.name, () => {
      const ask = { model: speaker.model, prompt: 'Why is the sea salt?' };

      it('answers with a text that says where it comes from and what was asked', async () => {
        const { text, model, input, output } = await speaker.ask(sandbox.url, ask);
        expect(text).to.match(
          new RegExp(
            `^Sandbox answer from ${speaker.label} \\(${speaker.model.replace('.', '\\.')}\\): you asked "Why is the sea salt\\?"`,
          ),
        );
        expect(model).to.contain(speaker.model);
        expect(input).to.equal(3 + 5);
        expect(output).to.equal(Math.ceil(text.length / 4));
      });

      it('streams the very answer it gives whole', async () => {
        const whole = await speaker.ask(sandbox.url, ask);
        expect(await speaker.stream(sandbox.url, ask)).to.deep.equal(whole);
      });

      it('answers the same to the same, and otherwise to another prompt or seed', async () => {
        const first = await speaker.ask(sandbox.url, ask);
        expect(await speaker.ask(sandbox.url, ask)).to.deep.equal(first);
        sandbox.turn({ seed: 1234567 });
        const other = await speaker.ask(sandbox.url, ask);
        sandbox.turn({});
        expect(other.text).not.to.equal(first.text);
        if (speaker.seeded)
          expect((await speaker.ask(sandbox.url, { ...ask, seed: 99 })).text).not.to.equal(first.text);
      });

      it('names the instruction that came with the prompt', async () => {
        const { text, input } = await speaker.ask(sandbox.url, { ...ask, system: 'Answer as a sailor.' });
        expect(text).to.contain('The instruction "Answer as a sailor." came with it.');
        expect(input).to.equal(3 + 5 + 5);
      });

      it('gives back what follows echo:, and JSON after json:', async () => {
        expect((await speaker.ask(sandbox.url, { ...ask, prompt: 'echo:Grüße\n  aus dem Sand 🏖' })).text).to.equal(
          'Grüße\n  aus dem Sand 🏖',
        );
        const { text } = await speaker.ask(sandbox.url, { ...ask, prompt: 'json: three fruits' });
        expect(JSON.parse(text)).to.deep.equal({
          sandbox: true,
          provider: speaker.label,
          model: speaker.model,
          request: 'three fruits',
        });
      });

      it('ends at the token limit and says so', async () => {
        const { text, output, finish } = await speaker.ask(sandbox.url, { ...ask, maxTokens: 5 });
        expect(text).to.have.lengthOf(20);
        expect(output).to.equal(5);
        expect(finish).to.equal({ claude: 'max_tokens', google: 'MAX_TOKENS' }[speaker.name] ?? 'length');
      });

      it('ends before the first stop sequence', async () => {
        const { text, finish } = await speaker.ask(sandbox.url, {
          ...ask,
          prompt: 'echo: one two three',
          stop: ['three', 'two'],
        });
        expect(text).to.equal('one ');
        expect(finish).to.equal({ claude: 'stop_sequence', google: 'STOP' }[speaker.name] ?? 'stop');
      });

      it('streams an empty answer', async () => {
        expect((await speaker.stream(sandbox.url, { ...ask, prompt: 'echo:' })).text).to.equal('');
      });

      it('lists its models', async () => {
        expect((await speaker.models(sandbox.url)).map((id) => id.replace(':latest', ''))).to.include(speaker.model);
      });
    });
  }
});
