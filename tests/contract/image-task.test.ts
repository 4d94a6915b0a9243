import { expect } from 'chai';
import type { AutomationItem, AutomationTaskType } from '../../plugins/svc/kit/automation-task.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { picture, startImagesService, type ImagesService } from './images-service.ts';
import type { Fields } from '../helpers/fields.ts';

describeHosts('the task of automations that draws', ({ location }) => {
  let service: ImagesService;
  let task: AutomationTaskType;
  beforeEach(async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    service = await startImagesService({ database: databaseUrl ?? dataDir });
    service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture(1) }] } }));
    const types = (await service.host.hooks.applyFiltersAsync(
      'svc_automation_task_types',
      [] as readonly AutomationTaskType[],
      {} as never,
    )) as readonly AutomationTaskType[];
    task = types.find(({ id }) => id === 'image_generation')!;
  });
  afterEach(() => service.stop());

  const item = (fields: Partial<AutomationItem> = {}): AutomationItem => ({
    key: 'automation:5:230',
    id: 230,
    target: 'Lighthouses',
    input: {},
    attempt: 1,
    signal: new AbortController().signal,
    task: { id: 5, name: 'Pictures', type: 'image_generation', authorId: 1 },
    origin: { module: 'automations', route: null, botId: null, reference: 'automation:5:230' },
    settings: {
      provider: 'openai',
      model: 'gpt-image-1',
      prompt: 'A picture of {title}',
      n: 1,
      size: '',
      quality: '',
      style: '',
      featured: 'missing',
    },
    ...fields,
  });
  const commit = (result: Awaited<ReturnType<AutomationTaskType['run']>>) =>
    service.host.database.transaction(async (transaction) => result.commit?.(transaction));
  const images = async (): Promise<Fields[]> =>
    JSON.parse((await service.host.cli('svc', 'image', 'list', '--json')).out) as Fields[];
  const mediaCount = (): Promise<number> => service.host.content.posts.count({ type: 'attachment', status: 'any' });

  it('draws for a topic; history, event and costs are there when the item is completed, once', async () => {
    const events: Fields[] = [];
    service.host.hooks.addAction('svc_event_image_generated', (_data: unknown, envelope: Fields) =>
      events.push(envelope),
    );
    const result = await task.run(item());
    expect([result.message, result.ai, await images(), events]).to.deep.equal([
      '1 image generated.',
      { provider: 'OpenAI', model: 'gpt-image-1' },
      [],
      [],
    ]);
    expect(service.upstream.calls[0]?.body['prompt']).to.equal('A picture of Lighthouses');
    await commit(result);
    expect((await images()).map(({ prompt, origin }) => [prompt, origin])).to.deep.equal([
      ['A picture of Lighthouses', 'automated_task_images'],
    ]);
    expect(events.map(({ source, data }) => [source.origin, data.actor, data.output_count])).to.deep.equal([
      ['automated_task_images', { type: 'user', user_id: 1 }, 1],
    ]);
    expect(service.upstream.calls).to.have.length(1);
  });

  it('sets the featured image of a post in the transaction that completes the item; posts that have one are passed over', async () => {
    const { content } = service.host;
    const post = await content.posts.create({ title: 'A storm', content: '<p>It blew.</p>', status: 'publish' });
    const input = { post_id: post.id, title: 'A storm' };
    const result = await task.run(item({ target: String(post.id), input }));
    expect((await content.posts.get(post.id))?.featuredMediaId).to.equal(0);
    expect(await commit(result)).to.deep.equal({ postId: post.id });
    const [{ media_id: media }] = (await images()) as [Fields];
    expect((await content.posts.get(post.id))?.featuredMediaId).to.equal(media);
    const again = await task.run(item({ key: 'automation:5:231', input }));
    expect([again.message, again.commit, service.upstream.calls.length]).to.deep.equal([
      '“A storm” already has a featured image.',
      undefined,
      1,
    ]);
    expect(((await failureOf(task.run(item({ input: { post_id: 999 } })))) as Error).message).to.contain(
      'Post 999 not found',
    );
  });

  it('leaves nothing of a transaction that is rolled back, and draws no second time at the next attempt', async () => {
    const post = await service.host.content.posts.create({ title: 'A storm', status: 'publish' });
    const first = await task.run(item({ input: { post_id: post.id } }));
    const failure = await failureOf(
      service.host.database.transaction(async (transaction) => {
        await first.commit?.(transaction);
        throw new Error('The node lost its lease.');
      }),
    );
    expect(String(failure)).to.contain('lost its lease');
    expect([await images(), (await service.host.content.posts.get(post.id))?.featuredMediaId]).to.deep.equal([[], 0]);
    await commit(await task.run(item({ attempt: 2, input: { post_id: post.id } })));
    expect([(await images()).length, await mediaCount(), service.upstream.calls.length]).to.deep.equal([1, 1, 1]);
  });

  it('deletes what was drawn for an item that was never completed, after a day', async () => {
    await task.run(item());
    expect(await mediaCount()).to.equal(1);
    await service.host.cron.run('svc_images_sweep');
    expect(await mediaCount()).to.equal(1);
    service.clock.jump(25 * 3600_000);
    await service.host.cron.run('svc_images_sweep');
    expect([await mediaCount(), await images()]).to.deep.equal([0, []]);
  });

  it('names what is wrong with its settings', async () => {
    expect(await task.check?.({ provider: 'claude', prompt: ' ' })).to.deep.equal({
      provider: 'Choose a provider that can generate images.',
      prompt: 'Enter a prompt.',
    });
    expect(await task.check?.({ provider: 'openai', prompt: 'x' })).to.deep.equal({});
  });
});
