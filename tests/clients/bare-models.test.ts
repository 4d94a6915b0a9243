import { expect } from 'chai';
import { startSentDoor, type Format, type SentDoor } from './sent-door.ts';

const formats: readonly Format[] = ['chat', 'responses', 'messages'];
const all = ['openai', 'azure', 'google', 'openrouter', 'claude', 'deepseek', 'xai'];

describe('a name of a model without its provider', () => {
  let door: SentDoor;
  before(async () => {
    door = await startSentDoor();
  });
  after(() => door.stop());

  const setUp = (...ids: readonly string[]): void => {
    for (const id of all) door.settings[id] = { ...(!ids.includes(id) && { api_key: '' }), api: 'chat', model: 'a' };
  };
  const reached = async (format: Format, model: string, key?: string): Promise<string> => {
    const { status, message, provider } = await door.ask(format, { model }, key);
    return status === 200 ? String(provider) : `${String(status)} ${message}`;
  };

  const owners = [
    ['claude-sonnet-4-5', 'claude'],
    ['grok-4.5', 'xai'],
    ['deepseek-chat', 'deepseek'],
    ['gpt-4.1', 'openai'],
    ['o4-mini', 'openai'],
    ['llama-4', 'openai'],
    ['gpt-oss-20b', 'openai'],
    ['claude-x:8b', 'openai'],
  ] as const;
  for (const format of formats)
    it(`goes to the provider of its vendor in ${format}`, async () => {
      setUp(...all);
      for (const [model, provider] of owners) expect(await reached(format, model), model).to.equal(provider);
    });

  it('goes to another provider that serves the vendor’s models, where only that is set up', async () => {
    setUp('azure', 'claude');
    for (const format of formats) expect(await reached(format, 'gpt-4.1')).to.equal('azure');
  });

  it('goes to no other vendor, and the error says which name to use', async () => {
    setUp('openai', 'openrouter');
    for (const format of formats) {
      const calls = door.received.length;
      const { status, code, message } = await door.ask(format, { model: 'claude-sonnet-4-5' });
      expect([status, code]).to.deep.equal([404, 'rest_svc_model_vendor_missing']);
      expect(message).to.contain('claude/claude-sonnet-4-5, openrouter/anthropic/claude-sonnet-4-5.');
      expect(door.received.length).to.equal(calls);
    }
  });

  it('goes to a provider that the key allows', async () => {
    setUp(...all);
    const key = await door.createKey('--routes=openai', '--providers=azure,claude');
    expect(await reached('chat', 'gpt-4.1', key)).to.equal('azure');
    expect(await reached('chat', 'grok-4.5', key)).to.match(/^404 grok-4\.5 is a model of xAI/);
    expect(await reached('chat', 'llama-4', key)).to.equal('azure');
  });

  it('goes to a provider that has a model of this name', async () => {
    setUp('openai', 'azure', 'xai');
    door.settings['xai'] = { ...door.settings['xai'], model: 'claude-sonnet-4-5' };
    expect(await reached('messages', 'claude-sonnet-4-5')).to.equal('xai');
    door.settings['azure'] = { ...door.settings['azure'], model: 'gpt-4.1' };
    expect(await reached('chat', 'gpt-4.1')).to.equal('azure');
    expect(await reached('chat', 'gpt-4o')).to.equal('openai');
  });
});
