import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { RestError } from '#plugin-api';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import type { Database } from '../../../../host/database/database.ts';
import type { FormStore } from '../../../../plugins/svc/modules/ai-forms/forms/form.ts';
import { createFormStore } from '../../../../plugins/svc/modules/ai-forms/forms/form-store.ts';
import { formsMigration } from '../../../../plugins/svc/modules/ai-forms/forms/form-tables.ts';
import { formTransfer } from '../../../../plugins/svc/modules/ai-forms/forms/form-store.ts';
import { starters } from '../../../../plugins/svc/modules/ai-forms/forms/starters.ts';
import { describeDialects } from '../../../helpers/dialects.ts';

const known = {
  textProviders: ['openai'],
  embeddingProviders: ['openai'],
  vectorStores: ['qdrant'],
  knowledgeBases: [7],
};
const topic = { id: 'topic', type: 'text', label: 'Topic', required: true };

async function openForms(database: Database): Promise<FormStore> {
  await database.migrate('svc', [formsMigration]);
  return createFormStore({
    host: { database, clock: createFakeClock(), hooks: createHooks() },
    known: async () => known,
    firstModel: async () => ({ provider: 'openai', model: 'gpt-first' }),
  });
}

async function errorsOf(work: Promise<unknown>): Promise<Record<string, string>> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof RestError) || error.code !== 'rest_invalid_param')
    throw new Error('It was not refused as it should be.', { cause: error });
  return (error.data as { params: Record<string, string> }).params;
}

describeDialects('the store of AI forms', (open) => {
  it('fills in defaults, counts ids up and never gives one twice', async () => {
    const forms = await openForms(await open());
    const first = await forms.create({ elements: [topic], prompt: '{topic}' });
    expect(first).to.deep.include({ id: 1, status: 'active', provider: 'openai', model: 'gpt-first', submissions: 0 });
    expect(first.embed).to.deep.equal({ enabled: true, allowed_domains: [], any_site: false });
    expect(await forms.delete(1)).to.equal(true);
    expect((await forms.create({ prompt: 'Hello' })).id).to.equal(2);
    expect(await forms.get(1)).to.equal(null);
  });

  it('refuses every bad member by its path, and the prompt that does not fit its fields', async () => {
    const forms = await openForms(await open());
    expect(
      Object.keys(
        await errorsOf(forms.create({ prompt: 7, wrong: 1, elements: [{ id: 'a b', type: 'no', label: '' }] })),
      ),
    ).to.have.members(['prompt', 'wrong', 'elements[0].id', 'elements[0].type', 'elements[0].label']);
    const errors = await errorsOf(
      forms.create({
        prompt: '{nobody}',
        provider: 'nobody',
        embed: { allowed_domains: ['*'] },
        knowledge: { enabled: true, base: 8 },
        elements: [
          topic,
          topic,
          { id: 'pick', type: 'select', label: 'Pick' },
          { id: 'file', type: 'file', label: 'File', max: 6 },
          { id: 'count', type: 'number', label: 'Count', min: 3, max: 1 },
        ],
      }),
    );
    expect(Object.keys(errors)).to.have.members([
      'prompt',
      'provider',
      'embed.allowed_domains[0]',
      'knowledge.base',
      'elements[1].id',
      'elements[2].options',
      'elements[3].max',
      'elements[4].max',
    ]);
  });

  it('merges changes, keeps both of two at once, and checks the prompt against the fields that are then there', async () => {
    const forms = await openForms(await open());
    const { id } = await forms.create({ elements: [topic], prompt: '{topic}' });
    await Promise.all([
      forms.update(id, { texts: { submit: 'Go' } }),
      forms.update(id, { limits: { guest: { amount: 3 } } }),
    ]);
    const form = await forms.get(id);
    expect([form?.texts.submit, form?.texts.result, form?.limits.guest]).to.deep.equal([
      'Go',
      'Result',
      { amount: 3, per: 'day' },
    ]);
    expect(await errorsOf(forms.update(id, { elements: [{ ...topic, id: 'subject' }] }))).to.have.all.keys('prompt');
    expect(await forms.duplicate(id)).to.deep.include({ name: 'Form (copy)', status: 'inactive', submissions: 0 });
  });

  it('exports and imports forms whole, or none of them', async () => {
    const forms = await openForms(await open());
    for (const { settings } of starters) await forms.create(settings);
    const text = JSON.stringify(formTransfer.exportItems(await forms.list()));
    expect(text).not.to.contain('"id":1');
    const made = await formTransfer.importItems(text, forms);
    expect(made.map(({ name }) => name)).to.deep.equal(['Blog post', 'Support reply', 'Product text']);
    const [first] = await forms.list();
    expect(formTransfer.exportItems([first!])['forms']).to.deep.equal(formTransfer.exportItems([made[0]!])['forms']);
    const bad = JSON.parse(text) as { forms: { prompt: string }[] };
    bad.forms[2]!.prompt = '{nobody}';
    expect(Object.keys(await errorsOf(formTransfer.importItems(JSON.stringify(bad), forms)))).to.deep.equal([
      'forms[2].prompt',
    ]);
    expect(await forms.list()).to.have.length(6);
    expect(await errorsOf(formTransfer.importItems('no', forms))).to.deep.equal({
      file: 'The file is not JSON. Choose a file from an export.',
    });
  });
});
