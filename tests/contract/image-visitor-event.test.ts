import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { picture, startImagesService } from './images-service.ts';
import { imageVisitor } from './image-visitor.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import type { Fields } from '../helpers/fields.ts';

describeHosts('an image for a visitor', ({ location }) => {
  it('is drawn once however often the same request is sent, belongs to its visitor alone, and is one queued event', async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    const service = await startImagesService({ database: databaseUrl ?? dataDir, clock: createSystemClock() });
    service.upstream.answer(() => ({ body: { created: 1, data: [{ b64_json: picture(1) }] } }));
    const receiver = await startWebhookReceiver();
    await service.host.cli('svc', 'image', 'public', 'on', '--json', '{"models": ["openai:gpt-image-1"]}');
    await service.host.cli('svc', 'webhook', 'on');
    await service.host.cli(
      'svc',
      'webhook',
      'add',
      '--json',
      JSON.stringify({ name: 'Shop', url: receiver.url, events: ['image.generated'] }),
    );
    const [one, other] = [await imageVisitor(service), await imageVisitor(service)];
    const request = '3f2b8c1e-0000-4000-8000-00000000000a';
    const drawn = await one.draw({ request });
    expect(drawn.body).to.deep.include({ state: 'done', n: 1, message: '', left: 2 });
    expect(drawn.body['images'][0]).to.deep.include({ alt: 'A boat' });
    expect((await one.ask({ request })).body).to.deep.include({ state: 'done', left: 2 });
    expect(service.upstream.calls).to.have.length(1);

    await other.mine();
    for (const answer of [await other.state(request), await other.ask({ request })])
      expect([answer.status, answer.body['code']]).to.deep.equal([404, 'rest_svc_image_not_found']);
    expect([(await one.mine()).body['images'].length, (await other.mine()).body['images'].length]).to.deep.equal([
      1, 0,
    ]);

    const [received] = await receiver.first(1);
    const event = JSON.parse(received!.body.toString()) as Fields;
    expect([event['source'].origin, event['data'].actor, event['data'].output_count]).to.deep.equal([
      'frontend_image_generator',
      { type: 'guest' },
      1,
    ]);
    expect(receiver.received).to.have.length(1);
    expect(await callsByUser(service.host, 'images')).to.deep.equal({ 0: 1 });
    await service.stop();
    await receiver.stop();
  });
});
