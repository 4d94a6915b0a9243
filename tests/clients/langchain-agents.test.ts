import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { expect } from 'chai';
import { createAgent } from 'langchain';
import { restKey, startDoor, type Door } from './openai-door.ts';

const weather = tool((input: unknown) => `Sunny in ${(input as { city: string }).city}.`, {
  name: 'weather',
  description: 'The weather of a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
});

const kinds = ({ messages }: { readonly messages: readonly BaseMessage[] }) => messages.map(({ type }) => type);
const turns = ['human', 'ai', 'tool', 'ai'];

describe('agents of LangChain and LangGraph', () => {
  let door: Door;
  before(async () => {
    door = await startDoor();
  });
  after(() => door.host.stop());

  for (const name of ['openai/gpt-4.1', 'google/gemini-2.5-flash', 'claude/claude-sonnet-5-5', 'ollama/llama3.2']) {
    const model = () =>
      new ChatOpenAI({ model: name, apiKey: restKey, configuration: { baseURL: door.url }, maxRetries: 0 });

    it(`complete a tool loop by hand with ${name}`, async () => {
      const bound = model().bindTools([weather]);
      const messages: BaseMessage[] = [
        new SystemMessage('Be brief.'),
        new HumanMessage({ content: 'Oslo', name: 'ada' }),
      ];
      const called = await bound.invoke(messages);
      const [call] = called.tool_calls ?? [];
      const content = String(await weather.invoke(call?.args as { city: string }));
      messages.push(called, new ToolMessage({ content, tool_call_id: call?.id ?? '', name: 'weather' }));
      const answer = await bound.invoke(messages);
      expect([call?.args, answer.tool_calls, typeof answer.content]).to.deep.equal([{ city: 'Oslo' }, [], 'string']);
      expect(answer.content).not.to.equal('');
      messages.push(new AIMessage({ content: answer.content, name: 'helper' }), new HumanMessage('echo: Thanks'));
      expect((await model().invoke(messages)).content).to.equal('Thanks');
    });

    it(`complete the loop of createAgent with ${name}`, async () => {
      const agent = createAgent({ model: model(), tools: [weather], name: 'helper', systemPrompt: 'Be brief.' });
      const done = await agent.invoke({ messages: [new HumanMessage('Oslo')] });
      expect(kinds(done)).to.deep.equal(turns);
    });

    it(`complete the loop of createReactAgent with ${name}`, async () => {
      const agent = createReactAgent({ llm: model(), tools: [weather], name: 'helper' });
      const done = await agent.invoke({ messages: [new HumanMessage('Oslo')] });
      expect(kinds(done)).to.deep.equal(turns);
      const again = await agent.invoke({ messages: [...done.messages, new HumanMessage('Rome')] });
      expect(kinds(again)).to.deep.equal([...turns, ...turns]);
    });
  }
});
