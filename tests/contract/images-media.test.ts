import { expect } from 'chai';
import { describeHosts } from '../helpers/dialects.ts';
import { png } from './images-upstream.ts';
import { picture, startImagesService, type ImagesService } from './images-service.ts';

describeHosts('Images in the media library', ({ location }) => {
  let service: ImagesService;
  beforeEach(async () => {
    const { databaseUrl, dataDir } = location();
    service = await startImagesService({ database: databaseUrl ?? dataDir });
  });
  afterEach(() => service.stop());

  const giving = (...pictures: readonly string[]): void => {
    service.upstream.answer(() => ({ body: { created: 1, data: pictures.map((b64_json) => ({ b64_json })) } }));
  };

  it('are attachments with type, size in pixels, a title and a text for those who cannot see them', async () => {
    giving(picture(1), picture(2));
    const long = `A lighthouse\nat dusk, ${'very '.repeat(60)}far away`;
    const { body } = await service.generate({ prompt: long, model: 'gpt-image-1', n: 2 });
    expect(body.message).to.equal('2 images generated.');
    const found = await service.host.content.posts.find({
      type: 'attachment',
      status: 'any',
      orderBy: 'id',
      order: 'asc',
    });
    expect(found.map(({ mimeType }) => mimeType)).to.deep.equal(['image/png', 'image/png']);
    const media = await Promise.all(found.map(({ id }) => service.host.content.media.get(id)));
    expect(media.map((entry) => entry?.url).sort()).to.deep.equal(
      body.images.map(({ url }: { url: string }) => url).sort(),
    );
    expect([media[0]?.width, media[0]?.height, media[0]?.size]).to.deep.equal([2, 3, png(1).length]);
    expect(media[0]?.title).to.match(/^A lighthouse at dusk, very .*…$/);
    expect(media[0]?.title.length).to.be.within(90, 100);
    expect(media[0]?.alt.length).to.be.within(101, 250);
  });

  it('are answered with absolute addresses that anybody can open', async () => {
    giving(picture(3));
    const [{ url }] = (await service.generate({ prompt: 'A lighthouse', model: 'gpt-image-1' })).body.images;
    expect(url.startsWith(`${service.host.site.url}/uploads/`)).to.equal(true);
    const file = await service.host.fetch(new URL(url).pathname);
    expect([file.status, file.headers.get('content-type')]).to.deep.equal([200, 'image/png']);
    expect(Buffer.from(await file.arrayBuffer()).equals(png(3))).to.equal(true);
  });

  it('are not made where base64 was asked for, or an address came', async () => {
    giving(picture(4));
    await service.generate({ prompt: 'A lighthouse', model: 'gpt-image-1', response_format: 'b64_json' });
    service.upstream.answer(() => ({ body: { created: 1, data: [{ url: 'https://images.example.com/x.png' }] } }));
    await service.generate({ prompt: 'A lighthouse', model: 'dall-e-3' });
    expect(await service.host.content.posts.count({ type: 'attachment', status: 'any' })).to.equal(0);
  });

  it('get the extension of what they are', async () => {
    const jpeg = Buffer.concat([
      Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]),
      Buffer.from('JFIF\0'),
      Buffer.alloc(40),
    ]).toString('base64');
    giving(jpeg);
    const [{ url }] = (await service.generate({ prompt: 'A lighthouse', model: 'gpt-image-1' })).body.images;
    expect(url).to.match(/\/generated-[\da-f]{16}\.jpe?g$/);
  });
});
