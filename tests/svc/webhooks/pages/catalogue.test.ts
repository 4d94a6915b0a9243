import { expect } from 'chai';
import type { TestHost } from '#testing';
import { serviceEvents } from '../../../../plugins/svc/events.ts';
import { adviceFor } from '../../../../plugins/svc/webhooks/pages/delivery-labels.ts';
import { fieldLines } from '../../../../plugins/svc/webhooks/pages/catalogue-view.ts';
import { createMigratedHost } from '../../../helpers/migrated.ts';

describe('the public catalogue of events', () => {
  let host: TestHost;
  let html = '';
  before(async () => {
    host = await createMigratedHost({ plugins: ['svc'] });
    host.hooks.addFilter('svc_event_schemas', (events) => [
      ...events,
      { name: 'mine.happened', group: 'Mine & yours', description: 'When <b>it</b> happened.', schema: {} } as never,
    ]);
    html = await (await host.fetch('/webhook-events')).text();
  });
  after(() => host.stop());

  it('shows every event to everybody, with its fields, a whole example and its schema', () => {
    for (const { name, description, example } of serviceEvents) {
      expect(html).to.contain(`<code>${name}</code></h2>`).and.contain(description.replaceAll("'", '&#x27;'));
      for (const field of Object.keys(example))
        expect(html, `${name} ${field}`).to.contain(`<code>data.${field}</code>`);
    }
    const examples = [...html.matchAll(/aria-label="Example of ([^"]+)"><code>([^<]+)</g)].map(
      ([, name, text = '']) =>
        [
          name,
          JSON.parse(
            text
              .replaceAll('&quot;', '"')
              .replaceAll('&#x27;', "'")
              .replaceAll('&lt;', '<')
              .replaceAll('&gt;', '>')
              .replaceAll('&#x3D;', '=')
              .replaceAll('&amp;', '&'),
          ) as { data: unknown; type: unknown },
        ] as const,
    );
    expect(examples.slice(0, serviceEvents.length).map(([name, { type, data }]) => [name, type, data])).to.deep.equal(
      serviceEvents.map(({ name, example }) => [name, name, example]),
    );
  });

  it('shows the events of plugins, escaped, each with its own anchor', () => {
    expect(html).to.contain('mine.happened').and.contain('When &lt;b&gt;it').and.contain('Mine &amp; yours');
    expect(html).not.to.contain('<b>it');
    const anchors = [...html.matchAll(/<article class="event-doc" id="([^"]+)"/g)].map(([, anchor]) => anchor);
    expect(new Set(anchors).size).to.equal(serviceEvents.length + 1);
  });

  it('is for those who hold the key at GET /events', async () => {
    const { out } = await host.cli('svc', 'key', 'generate', '--json');
    const { key } = JSON.parse(out) as { key: string };
    expect((await host.fetch('/wp-json/svc/v1/events')).status).to.equal(401);
    const events = (await (
      await host.fetch('/wp-json/svc/v1/events', { headers: { authorization: `Bearer ${key}` } })
    ).json()) as { name: string; schema: object; example: object }[];
    expect(events.slice(0, 10).map(({ name, schema, example }) => ({ name, schema, example }))).to.deep.equal(
      JSON.parse(JSON.stringify(serviceEvents.map(({ name, schema, example }) => ({ name, schema, example })))),
    );
  });
});

describe('the fields of an event', () => {
  it('include those inside objects and lists, with their types and which are optional', () => {
    const schema = {
      properties: {
        id: { type: ['integer', 'string'] },
        kind: { enum: ['up', 'down'], description: 'Which way.' },
        tags: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'string' }] },
        images: {
          type: 'array',
          items: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
        },
      },
      required: ['id'],
    };
    expect(
      fieldLines(schema).map(({ path, type, description, required }) => [path, type, description, required]),
    ).to.deep.equal([
      ['data.id', 'integer or string', '', true],
      ['data.kind', '"up" or "down"', 'Which way.', false],
      ['data.tags', 'list of string or string', '', false],
      ['data.images', 'list of object', '', false],
      ['data.images[].url', 'string', '', true],
    ]);
  });
});

describe('advice on failures', () => {
  it('exists for every kind of failure', () => {
    for (const failure of [
      'dns',
      'connect',
      'tls',
      'timeout',
      'guard',
      'redirect',
      'reset',
      'answer',
      'filter',
      'stopped',
      'aborted',
    ] as const)
      expect(adviceFor({ failure, httpStatus: null }), failure).to.match(/\.$/);
    for (const httpStatus of [400, 401, 404, 405, 410, 413, 429, 500, 503])
      expect(adviceFor({ failure: 'status', httpStatus }), String(httpStatus)).to.match(/\.$/);
    expect(adviceFor({ failure: null, httpStatus: 200 })).to.equal('');
  });
});
