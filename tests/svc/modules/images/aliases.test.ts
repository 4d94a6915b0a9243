import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { imageMigrations } from '../../../../plugins/svc/modules/images/image-tables.ts';
import { createImageStore } from '../../../../plugins/svc/modules/images/store/image-store.ts';
import { describeDialects } from '../../../helpers/dialects.ts';

describeDialects('images of the history', (open) => {
  it('keep their rows through the renamed columns, and their former name of position', async () => {
    const database = await open();
    const [first, ...others] = imageMigrations;
    await database.migrate('svc', [first!]);
    const row = {
      request: 'r',
      place: 3,
      status: 'kept',
      media_id: 5,
      mode: 'generate',
      origin: 'admin_image_generator',
    };
    await database.knex('svc_images').insert({
      ...row,
      prompt: 'A boat',
      provider_id: 'openai',
      provider: 'OpenAI',
      model: 'm',
      asked: '{"size":"1024x1024"}',
      url: 'https://example.com/a.png',
      mime_type: 'image/png',
      bytes: 1,
      user_id: 0,
      found_by: 'a boat',
      created_at: 1,
    });
    await database.migrate('svc', [first!, ...others]);
    const [image] = await createImageStore({ database, clock: createFakeClock() }).list(
      { search: 'boat' },
      { limit: 5 },
    );
    expect([image?.position, image?.['place'], image?.asked]).to.deep.equal([3, 3, { size: '1024x1024' }]);
  });
});
