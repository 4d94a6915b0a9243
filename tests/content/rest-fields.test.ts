import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { createMigratedHost } from '../helpers/migrated.ts';

describe('a REST field of a plugin that fails', () => {
  it('is null and logged, and the rest of the response is there, but for a refusal', async () => {
    const host = await createMigratedHost({ plugins: [] });
    try {
      const { content } = host;
      const { id } = await content.posts.create({ title: 'Open', status: 'publish' });
      const read = async (): Promise<[number, Record<string, unknown>]> => {
        const response = await host.fetch(`/wp-json/wp/v2/posts/${String(id)}`);
        return [response.status, (await response.json()) as Record<string, unknown>];
      };
      let error = new Error('broken');
      content.registerRestField('post', 'rating', {
        schema: { type: 'integer' },
        get: () => {
          throw error;
        },
      });
      const [status, body] = await read();
      expect([status, body['id'], body['rating']]).to.deep.equal([200, id, null]);
      const logged = host.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(logged.find(({ event }) => event === 'rest_field_failed')).to.include({ field: 'rating', type: 'post' });
      error = new RestError({ code: 'rest_members_only', message: 'For members.', status: 403 });
      expect((await read())[0]).to.equal(403);
    } finally {
      await host.stop();
    }
  });
});
