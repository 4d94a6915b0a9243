import { expect } from 'chai';
import { createTestHost } from '#testing';

describe('the example plugin hello', () => {
  it('greets through its route, its filter and its action, and is gone when it is deactivated', async () => {
    const host = await createTestHost({ plugins: ['hello'] });
    try {
      const greeted: string[] = [];
      host.hooks.addAction('hello_greeted', (name: string) => void greeted.push(name));
      host.hooks.addFilter('hello_greeting', (text: string) => text.toUpperCase(), 20);
      const answer = await host.fetch('/wp-json/hello/v1/greet/Ada');
      expect([answer.status, await answer.json()]).to.deep.equal([200, { hello: 'HELLO, ADA!' }]);
      expect(greeted).to.deep.equal(['Ada']);
      const refused = await host.fetch('/wp-json/hello/v1/greet/nobody');
      expect([refused.status, ((await refused.json()) as { code: string }).code]).to.deep.equal([400, 'hello_nobody']);
      await host.plugins.deactivate('hello');
      expect((await host.fetch('/wp-json/hello/v1/greet/Ada')).status).to.equal(404);
      await host.plugins.activate('hello');
      expect((await host.fetch('/wp-json/hello/v1/greet/Ada')).status).to.equal(200);
    } finally {
      await host.stop();
    }
  });
});
