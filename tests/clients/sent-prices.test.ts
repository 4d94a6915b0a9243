import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { memberPrices } from '../../plugins/svc/ai/billed-members.ts';
import { startSentDoor, type Format, type Members, type SentDoor } from './sent-door.ts';

const { resolve } = createRequire(import.meta.url);

/** Members of the body by the vendor's package, which its maker generates from the description of the API. */
function describedMembers(entry: string, file: string, name: string): string[] {
  const path = new URL(file, `file://${resolve(entry)}`);
  const text = readFileSync(path, 'utf8');
  const [, body = ''] = new RegExp(`\\nexport interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(text) ?? [];
  const members = body.matchAll(/^ {4}(\w+)\??:/gm);
  const headers = new Set([...body.matchAll(/Header param:(?:(?!\*\/).)*\*\/\s+(\w+)/gs)].map(([, header]) => header));
  return [...members].flatMap(([, member = '']) => (headers.has(member) ? [] : [member]));
}

const descriptions: readonly (readonly [Format, string, string, string, number])[] = [
  ['chat', 'openai', 'resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase', 36],
  ['responses', 'openai', 'resources/responses/responses.d.ts', 'ResponseCreateParamsBase', 34],
  ['messages', '@anthropic-ai/sdk', 'resources/messages/messages.d.ts', 'MessageCreateParamsBase', 15],
  ['messages', '@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts', 'MessageCreateParamsBase', 22],
];

describe('what members of a request cost', () => {
  for (const [format, entry, file, name, least] of descriptions)
    it(`is known of all that ${file} describes`, () => {
      const members = describedMembers(entry, file, name);
      expect(members).to.have.length.of.at.least(least);
      const { tokens, priced } = memberPrices[format];
      expect(members.filter((member) => !tokens.includes(member) && !Object.hasOwn(priced, member))).to.deep.equal([]);
    });

  for (const [format, { tokens, priced }] of Object.entries(memberPrices))
    it(`is tokens alone or has a price in ${format}, and is said once`, () => {
      const all = [...tokens, ...Object.keys(priced)];
      expect(all.filter((member, index) => all.indexOf(member) !== index)).to.deep.equal([]);
    });
});

const fn = { type: 'function', name: 'f', parameters: {}, strict: null };
const container = { type: 'container_auto' };

describe('a budget of dollars that refuses what has no price', () => {
  let door: SentDoor;
  const budget = (unpriced: string) =>
    door.host.cli(
      ...['svc', 'budget', 'set', JSON.stringify({ id: 'all', name: 'All', unit: 'dollars', amount: 1_000, unpriced })],
    );
  before(async () => {
    door = await startSentDoor();
    expect((await budget('refuse')).code).to.equal(0);
  });
  after(() => door.stop());
  const ask = (format: Format, body: Members) => {
    door.settings['openai'] = { api: format === 'responses' ? format : 'chat' };
    return door.ask(format, { ...(format === 'chat' && { model: 'openai/gpt-4.1' }), ...body });
  };

  const refused: readonly (readonly [Format, string, Members])[] = [
    ['messages', 'speed', { speed: 'fast' }],
    ['messages', 'inference_geo', { inference_geo: 'us' }],
    ['messages', 'container', { container: { skills: [{ type: 'anthropic', skill_id: 'xlsx' }] } }],
    ['messages', 'fallbacks', { fallbacks: [{ model: 'claude-opus-4-7' }] }],
    ['messages', 'service_tier', { service_tier: 'priority' }],
    ['messages', 'new_member', { new_member: 1 }],
    ['messages', 'tools[1]', { tools: [{ name: 'f', input_schema: {} }, { type: 'web_fetch_20260318' }] }],
    ['messages', 'tools[0]', { tools: [{ type: 'new_tool_20270101', name: 'n', input_schema: {} }] }],
    ['responses', 'tools[0]', { tools: [{ type: 'shell', environment: container }] }],
    ['responses', 'tools[0]', { tools: [{ type: 'shell' }] }],
    ['responses', 'tools[1].tools[0]', { tools: [fn, { type: 'namespace', tools: [{ type: 'web_search' }] }] }],
    ['responses', 'input[0].tools[0]', { input: [{ type: 'tool_search_output', tools: [{ type: 'web_search' }] }] }],
    ['responses', 'tools[0]', { tools: [{ type: 'tool_search' }] }],
    ['responses', 'prompt', { prompt: { id: 'pmpt_1' } }],
    ['responses', 'background_options', { background_options: { completion_window: '8h' } }],
    ['chat', 'modalities', { modalities: ['text', 'audio'] }],
    ['chat', 'audio', { audio: { voice: 'alloy', format: 'mp3' } }],
    ['chat', 'web_search_options', { web_search_options: {} }],
    ['chat', 'tools[0]', { tools: [{ function: { name: 'f' } }] }],
    ['chat', 'toString', { toString: 1 }],
  ];
  for (const [format, param, body] of refused)
    it(`refuses ${param} of ${format}: ${JSON.stringify(body).slice(0, 80)}`, async () => {
      const calls = door.received.length;
      const { status, code, ...rest } = await ask(format, body);
      expect([status, code, rest.param], rest.message).to.deep.equal([400, 'rest_svc_budget_unpriced_param', param]);
      expect(door.received.length).to.equal(calls);
    });

  const sent: readonly (readonly [Format, Members])[] = [
    [
      'messages',
      { speed: 'standard', inference_geo: 'global', service_tier: 'auto', mcp_servers: [], container: null },
    ],
    [
      'messages',
      {
        tools: [
          { type: 'bash_20250124', name: 'bash' },
          { type: null, name: 'f', input_schema: {} },
        ],
      },
    ],
    ['messages', { tools: [{ name: 'f', input_schema: { tools: [{ type: 'web_search' }] } }] }],
    ['responses', { tools: [fn, { type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }] }],
    ['responses', { tools: [{ type: 'namespace', name: 'n', tools: [fn, { type: 'custom', name: 'c' }] }] }],
    ['responses', { tools: [{ type: 'tool_search', execution: 'client', parameters: {} }], store: false }],
    ['chat', { modalities: ['text'], service_tier: 'default', audio: null, verbosity: 'low' }],
    ['chat', { tools: [{ type: 'function', function: { name: 'f' } }], n: 1, prediction: null }],
  ];
  for (const [format, body] of sent)
    it(`lets tokens pass in ${format}: ${JSON.stringify(body).slice(0, 80)}`, async () => {
      const { status, message } = await ask(format, body);
      expect(status, message).to.equal(200);
    });

  it('lets all pass where it counts calls without a price as free', async () => {
    await budget('free');
    for (const [format, , body] of refused) {
      const { status, message } = await ask(format, body);
      expect(status, message).to.equal(200);
    }
    await budget('refuse');
  });
});
