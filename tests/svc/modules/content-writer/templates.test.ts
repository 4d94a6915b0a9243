import { expect } from 'chai';
import { createSystemClock } from '../../../../host/clock.ts';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import { builtInTemplates } from '../../../../plugins/svc/modules/content-writer/templates/built-in.ts';
import { contentMigration } from '../../../../plugins/svc/modules/content-writer/content-tables.ts';
import { fillPrompt, promptErrors } from '../../../../plugins/svc/modules/content-writer/templates/placeholders.ts';
import {
  createTemplateStore,
  type TemplateStore,
} from '../../../../plugins/svc/modules/content-writer/templates/template-store.ts';
import { templateTransfer } from '../../../../plugins/svc/modules/content-writer/templates/template-store.ts';
import { checkTemplate } from '../../../../plugins/svc/modules/content-writer/templates/template-schema.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';

const known = { text: ['openai'], images: ['openai'] };
const errorsOf = (parts: object, more: object = {}): Readonly<Record<string, string>> =>
  checkTemplate({ name: 'Mine', parts, ...more }, known).errors;
const on = (prompt: string, more: object = {}): object => ({ enabled: true, prompt, ...more });

describe('content templates', () => {
  it('pass validation if built in', () => {
    for (const { id: _id, builtIn: _builtIn, ...settings } of builtInTemplates)
      expect(checkTemplate(settings, known).errors, settings.name).to.deep.equal({});
  });

  it('use known placeholders of earlier sections only', () => {
    expect(
      errorsOf({
        title: on('About {topic}'),
        content: on('{title} {keywords} {instructions} {source} {source_url} {site} {date}'),
      }),
    ).to.deep.equal({});
    expect(errorsOf({ title: on('{nothing}') })['parts.title.prompt']).to.match(
      /^parts\.title\.prompt uses \{nothing\}, which does not exist\. Use \{topic\} /,
    );
    expect(errorsOf({ title: on('{content}'), content: on('x') })['parts.title.prompt']).to.include('is written later');
    expect(errorsOf({ title: on('{title}') })['parts.title.prompt']).to.include('is written later');
    expect(errorsOf({ excerpt: on('{content}') })['parts.excerpt.prompt']).to.include('is disabled');
    expect(errorsOf({ content: on('{title}') })).to.deep.equal({});
    expect(errorsOf({ content: on('x') }, { system: '{content}' })['system']).to.include(
      'not written before the first section',
    );
    expect(errorsOf({ title: on('{title} {content} {excerpt}') }, { kind: 'rewrite' })).to.deep.equal({});
  });

  it('report an error for each invalid member', () => {
    expect(errorsOf({})).to.have.keys('parts');
    expect(errorsOf({ content: on(' ') })).to.have.keys('parts.content.prompt');
    expect(errorsOf({ content: on('x', { params: { temperature: 3 } }) })['parts.content.params.temperature']).to.equal(
      'parts.content.params.temperature must be from 0 to 2.',
    );
    expect(errorsOf({ content: on('x', { provider: 'nobody' }) })['parts.content.provider']).to.include('openai');
    expect(errorsOf({ content: on('x', { colour: 1 }) })['parts.content.colour']).to.include('is unknown. Use one of');
    expect(checkTemplate(null, known).errors).to.have.keys('');
  });

  it('fill in placeholders once, not those in a source', () => {
    expect(fillPrompt('{topic}: {source} {"a": 1} {unknown}', { topic: '{source}', source: 'S' })).to.equal(
      '{source}: S {"a": 1} {unknown}',
    );
    expect(
      promptErrors(checkTemplate({ name: 'x', parts: { content: on('{"json": true} {A}') } }, known).settings),
    ).to.deep.equal({});
  });
});

describeDialects('the store of templates', (open) => {
  let store: TemplateStore;
  beforeEach(async () => {
    const database = await open();
    await database.migrate('svc', [contentMigration]);
    store = createTemplateStore({
      host: { database, clock: createSystemClock(), hooks: createHooks() },
      providers: async () => Promise.resolve(known),
    });
  });
  const mine = { name: 'Mine', parts: { content: on('About {topic}', { params: { temperature: 0.4 } }) } };

  it('saves, finds by id and by name, replaces and deletes', async () => {
    const made = await store.create(mine);
    expect(await store.find(made.id)).to.deep.equal(made);
    expect((await store.find('mine'))?.id).to.equal(made.id);
    expect((await store.replace(made.id, { ...mine, name: 'Other' }))?.name).to.equal('Other');
    expect(await store.find('mine')).to.equal(null);
    expect(await store.delete(made.id)).to.equal(true);
    expect(await store.delete(made.id)).to.equal(false);
    expect(await store.replace(made.id, mine)).to.equal(null);
    expect(await store.delete('article')).to.equal(false);
  });

  it('keeps names unique, case-insensitive, under concurrent requests', async () => {
    const results = await Promise.allSettled([
      store.create(mine),
      store.create({ ...mine, name: 'MINE' }),
      store.create({ ...mine, name: 'Article' }),
    ]);
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(String(await failureOf(store.create(mine)))).to.include('is taken');
  });

  it('moves templates between sites: all of them or none', async () => {
    const made = await store.create(mine);
    const text = JSON.stringify(templateTransfer.exportItems([made, builtInTemplates[0]!]));
    expect((await templateTransfer.importItems(text, store)).map(({ name }) => name)).to.deep.equal([
      'Mine (2)',
      'Article (2)',
    ]);
    const broken = JSON.parse(text) as { templates: { name: string }[] };
    broken.templates[1]!.name = '';
    expect(String(await failureOf(templateTransfer.importItems(JSON.stringify(broken), store)))).to.include(
      'templates[1]: name must not be empty.',
    );
    expect((await store.list()).filter(({ builtIn }) => !builtIn)).to.have.length(3);
    for (const bad of [
      '{',
      '{"format": "x"}',
      '{"format": "svc-content-templates", "version": 2}',
      '{"format": "svc-content-templates", "version": 1}',
    ])
      await failureOf(templateTransfer.importItems(bad, store));
  });
});
