import { expect } from 'chai';
import type { Database } from '../../../../../host/database/database.ts';
import { createBotStore } from '../../../../../plugins/svc/modules/chatbots/bots/bot-store.ts';
import type { BotSettings, BotStore } from '../../../../../plugins/svc/modules/chatbots/bots/bot.ts';
import { readAllowedDomain } from '../../../../../plugins/svc/kit/visitors/allowed-domain.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { errorsOf, known, openBots } from './helpers.ts';

const rule = { id: 'r1', event: 'message_received', action: { type: 'reply', text: 'Hello' } };
const form = { id: 'f1', name: 'Call me', elements: [{ id: 'mail', type: 'email', label: 'E-mail' }] };

/** What is refused: settings, and the paths that are named. */
const refused: Record<string, [object, readonly string[]]> = {
  'several members at once': [
    { name: ' ', status: 'on', max_messages: 0, temperature: 3, starters: ['a', ' '], texts: { title: 7 } },
    ['name', 'status', 'max_messages', 'temperature', 'starters[1]', 'texts.title'],
  ],
  'a name of two lines': [{ name: 'a\nb' }, ['name']],
  'a name that is too long': [{ name: 'n'.repeat(201) }, ['name']],
  'an unknown setting': [{ intructions: 'x', embed: { domains: [] } }, ['intructions', 'embed.domains']],
  'members of another kind': [
    { name: 5, feedback: 'yes', rules: {}, knowledge: [] },
    ['name', 'feedback', 'rules', 'knowledge'],
  ],
  'too many starters': [{ starters: Array.from({ length: 9 }, () => 'Q?') }, ['starters']],
  'figures out of range': [
    {
      max_completion_tokens: 10_000_001,
      knowledge: { top_k: 21, min_score: 101 },
      look: { corner_radius: 33 },
      limits: { guest: { amount: -1, per: 'year' } },
    },
    [
      'max_completion_tokens',
      'knowledge.top_k',
      'knowledge.min_score',
      'look.corner_radius',
      'limits.guest.amount',
      'limits.guest.per',
    ],
  ],
  'limits of a role': [
    { limits: { roles: { editor: { amount: 1.5 }, author: 3 } } },
    ['limits.roles.editor.amount', 'limits.roles.author'],
  ],
  'colours that are none': [
    { look: { primary_color: 'red;background:url(x)', text_color: '#12345', bot_bubble_color: '#12345g' } },
    ['look.primary_color', 'look.text_color', 'look.bot_bubble_color'],
  ],
  'a script as picture': [{ look: { avatar_url: 'javascript:alert(1)' } }, ['look.avatar_url']],
  'data as picture': [{ look: { avatar_url: 'data:image/svg+xml,<svg/>' } }, ['look.avatar_url']],
  'a picture that breaks out': [{ look: { avatar_url: 'https://example.com/"onerror="x' } }, ['look.avatar_url']],
  'a picture with a password': [{ look: { avatar_url: 'https://me:secret@example.com/a.png' } }, ['look.avatar_url']],
  'a picture of whatever host': [{ look: { avatar_url: '//example.com/a.png' } }, ['look.avatar_url']],
  'an unknown provider': [{ provider: 'nobody' }, ['provider']],
  'knowledge without a place': [
    { knowledge: { enabled: true } },
    ['knowledge.store', 'knowledge.target', 'knowledge.embedding_provider', 'knowledge.embedding_model'],
  ],
  'knowledge of an unknown store': [
    {
      knowledge: { enabled: true, store: 'qdant', target: 'notes', embedding_provider: 'claude', embedding_model: 'e' },
    },
    ['knowledge.store', 'knowledge.embedding_provider'],
  ],
  'domains that are none': [
    {
      embed: {
        allowed_domains: [
          'example.com',
          'not a domain',
          'https://a.com/path',
          '*.com',
          '*',
          'ftp://a.com',
          'a.com:99999',
        ],
      },
    },
    [
      'embed.allowed_domains[1]',
      'embed.allowed_domains[2]',
      'embed.allowed_domains[3]',
      'embed.allowed_domains[4]',
      'embed.allowed_domains[5]',
      'embed.allowed_domains[6]',
    ],
  ],
  'addresses that are none': [
    {
      moderation: {
        banned_addresses: [
          '203.0.113.0/24',
          '203.0.113.0/33',
          '2001:db8::/32',
          '2001:db8::/129',
          'example.com',
          '1.2.3',
        ],
      },
    },
    [
      'moderation.banned_addresses[1]',
      'moderation.banned_addresses[3]',
      'moderation.banned_addresses[4]',
      'moderation.banned_addresses[5]',
    ],
  ],
  'a banned word of blanks': [{ moderation: { banned_words: ['ok', '  '] } }, ['moderation.banned_words[1]']],
  'rules with one id': [{ rules: [rule, rule] }, ['rules[1].id']],
  'a rule that shows a form there is not': [
    { rules: [{ ...rule, action: { type: 'display_form', form_id: 'f2' } }], forms: [form] },
    ['rules[0].action.form_id'],
  ],
  'rules that are incomplete': [
    {
      rules: [
        { id: 'a b' },
        { ...rule, id: 'r2', action: { type: 'reply' } },
        { ...rule, id: 'r3', action: { type: 'explode' } },
        { ...rule, id: 'r4', action: { type: 'call_hook', name: 'A-b' } },
      ],
    },
    [
      'rules[0].id',
      'rules[0].event',
      'rules[0].action',
      'rules[1].action.text',
      'rules[2].action.type',
      'rules[3].action.name',
    ],
  ],
  'conditions that are none': [
    {
      rules: [
        {
          ...rule,
          conditions: [
            { fact: 'mood', operator: 'contains', value: '' },
            { fact: 'variable:plan', operator: 'is' },
          ],
        },
      ],
    },
    ['rules[0].conditions[0].fact', 'rules[0].conditions[1].operator'],
  ],
  'forms and fields with one id': [
    { forms: [{ ...form, elements: [...form.elements, ...form.elements] }, form] },
    ['forms[0].elements[1].id', 'forms[1].id'],
  ],
  'choices without options, or with the same twice': [
    {
      forms: [
        {
          ...form,
          elements: [
            { id: 'a', type: 'select', label: 'A' },
            {
              id: 'b',
              type: 'radio',
              label: 'B',
              options: [
                { value: '1', label: 'x' },
                { value: '1', label: 'y' },
              ],
            },
          ],
        },
      ],
    },
    ['forms[0].elements[0].options', 'forms[0].elements[1].options[1].value'],
  ],
  'a form without fields': [{ forms: [{ ...form, elements: [] }] }, ['forms[0].elements']],
};

describe('settings of a bot that are refused', () => {
  // Whatever is refused is refused before the database is asked.
  const database = new Proxy(
    {},
    {
      get: (_target, name) =>
        name === 'dialect'
          ? 'sqlite'
          : () => {
              throw new Error('The database was asked.');
            },
    },
  ) as Database;
  const bots: BotStore = createBotStore({
    host: { database, clock: { now: () => 0 } as never, hooks: {} as never },
    known: async () => known,
    firstModel: async () => ({ provider: 'openai', model: 'm' }),
  });

  for (const [name, [settings, paths]] of Object.entries(refused)) {
    it(`${name}: ${paths.join(', ')}`, async () => {
      const errors = await errorsOf(bots.create(settings));
      expect(Object.keys(errors)).to.have.members(paths);
      for (const [path, sentence] of Object.entries(errors))
        expect(sentence.startsWith(`${path} `) && sentence.endsWith('.'), sentence).to.equal(true);
    });
  }

  it('a value that is not an object', async () => {
    for (const settings of [null, 'x', 7, [], undefined])
      expect(Object.values(await errorsOf(bots.create(settings)))).to.deep.equal(['The chatbot must be an object.']);
  });

  it('members named like those of every object are unknown, not dangerous', async () => {
    expect(
      Object.keys(await errorsOf(bots.create(JSON.parse('{"__proto__": {"status": "x"}, "constructor": 1}')))),
    ).to.have.members(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>)['status']).to.equal(undefined);
  });

  it('a long blank name in no time', async () => {
    // Time of this process alone: what else the machine does is no matter.
    const started = process.cpuUsage();
    await errorsOf(bots.create({ name: ' '.repeat(500_000), model: 'x'.repeat(500_000) }));
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1_000).to.be.below(1_000);
  });

  it('all errors of several bots, each with the index of its bot', async () => {
    expect(
      await errorsOf(bots.createAll([{ name: 'Good' }, { name: '' }, 7, { embed: { allowed_domains: ['?'] } }])),
    ).to.have.all.keys('bots[1].name', 'bots[2]', 'bots[3].embed.allowed_domains[0]');
  });
});

describeDialects('settings of a bot that are right', (open) => {
  it('are all stored unchanged', async () => {
    const { bots } = await openBots(await open());
    const given = {
      name: '  Laden 店 🛒 ',
      temperature: 0,
      model: 'm',
      starters: ['Was kostet der Versand?'],
      knowledge: {
        enabled: true,
        store: 'qdrant',
        target: 'notes',
        embedding_provider: 'openai',
        embedding_model: 'text-embedding-3-small',
        top_k: 20,
        min_score: 0,
        show_sources: false,
      },
      look: { primary_color: '#A1b2C3', avatar_url: '/uploads/2026/a.png', direction: 'rtl', open_after: 30 },
      embed: {
        enabled: true,
        allowed_domains: [
          'example.com',
          'https://shop.example.com:8443',
          '*.example.com',
          'localhost:8080',
          'münchen.example',
          'http://127.0.0.1:9',
        ],
      },
      moderation: { banned_words: ['damn'], banned_addresses: ['203.0.113.0/24', '::1', '2001:db8::/32'] },
      rules: [
        { ...rule, conditions: [{ fact: 'field:mail', operator: 'is_not_empty' }] },
        { ...rule, id: 'r2', event: 'session_started', action: { type: 'display_form', form_id: 'f1' } },
      ],
      forms: [form],
    };
    const bot = await bots.create(given);
    expect(bot.embed.allowed_domains).to.deep.equal(given.embed.allowed_domains);
    expect(bot.knowledge).to.deep.equal({ namespace: '', base: 0, ...given.knowledge });
    expect(bot.moderation).to.deep.include(given.moderation);
    expect([bot.name, bot.temperature, bot.look.avatar_url]).to.deep.equal([given.name, 0, given.look.avatar_url]);
    expect(bot.rules[0]).to.deep.equal({
      ...rule,
      name: '',
      enabled: true,
      priority: 10,
      conditions: [{ fact: 'field:mail', operator: 'is_not_empty', value: '' }],
    });
    expect(bot.forms[0]?.elements[0]).to.deep.equal({
      id: 'mail',
      type: 'email',
      source: '',
      label: 'E-mail',
      help: '',
      placeholder: '',
      required: false,
      options: [],
    });
    expect(await bots.get(bot.id)).to.deep.equal(bot);
  });

  it('stay valid when a provider no longer exists, until it is changed', async () => {
    const database = await open();
    const bot = await (
      await openBots(database)
    ).bots.create({
      knowledge: { enabled: true, store: 'qdrant', target: 't', embedding_provider: 'openai', embedding_model: 'e' },
    } satisfies { knowledge: Partial<BotSettings['knowledge']> });
    const { bots } = await openBots(database, {
      textProviders: ['claude'],
      embeddingProviders: [],
      vectorStores: [],
      knowledgeBases: [],
    });
    expect((await bots.update(bot.id, { status: 'inactive' })).status).to.equal('inactive');
    expect(await errorsOf(bots.update(bot.id, { provider: 'gone', knowledge: { store: 'chroma' } }))).to.have.all.keys(
      'provider',
      'knowledge.store',
    );
  });
});

describe('domains that may embed a bot', () => {
  it('are normalized as browsers send them', () => {
    expect(readAllowedDomain('Example.COM')).to.deep.equal({
      scheme: null,
      host: 'example.com',
      wildcard: false,
      port: null,
    });
    expect(readAllowedDomain(' https://shop.example.com:8443/ ')).to.deep.equal({
      scheme: 'https',
      host: 'shop.example.com',
      wildcard: false,
      port: 8443,
    });
    expect(readAllowedDomain('*.example.co.uk')).to.deep.equal({
      scheme: null,
      host: 'example.co.uk',
      wildcard: true,
      port: null,
    });
    expect(readAllowedDomain('https://*.münchen.example')?.host).to.equal('xn--mnchen-3ya.example');
    expect(readAllowedDomain('[::1]:3000')).to.deep.equal({ scheme: null, host: '[::1]', wildcard: false, port: 3000 });
    for (const none of [
      '',
      ' ',
      '*',
      '*.com',
      '*.localhost',
      'a..b',
      '-a.com',
      'a.com/b',
      'a.com?b',
      'http://',
      'javascript:alert(1)',
      'a b.com',
      'x@a.com',
      'a.com:0',
      '*.127.0.0.1',
      'ex*mple.com',
      '*.*.com',
      'a%2ecom',
      'x'.repeat(400),
    ])
      expect(readAllowedDomain(none), none).to.equal(null);
  });
});
