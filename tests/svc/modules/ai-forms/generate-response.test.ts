import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { createHooks } from '../../../../host/hooks/hooks.ts';
import type { FindKnowledgeInput } from '../../../../plugins/svc/kit/assistants/assistant-knowledge.ts';
import type { GenerateTextInput } from '../../../../plugins/svc/ai/generate-text.ts';
import type { AiForm } from '../../../../plugins/svc/modules/ai-forms/forms/form.ts';
import { formSchema } from '../../../../plugins/svc/modules/ai-forms/forms/form-schema.ts';
import { createGenerateResponse } from '../../../../plugins/svc/modules/ai-forms/submit/generate-response.ts';
import { fillDefaults } from '#plugin-api';
import { silentLog } from '../../../helpers/silent-log.ts';

const text = { id: 'v1', title: 'Prices', url: 'https://example.com/prices', text: 'Salt costs [date].', score: 80 };

function open(findKnowledge: (input: FindKnowledgeInput) => Promise<readonly (typeof text)[]>) {
  const asked: GenerateTextInput[] = [];
  const hooks = createHooks();
  const generateResponse = createGenerateResponse({
    host: {
      hooks,
      log: silentLog,
      clock: createFakeClock({ now: Date.UTC(2026, 10, 21) }),
      site: {
        url: '',
        role: 'all',
        version: '',
        dataDir: null,
        id: async () => 'a site of tests',
        name: async () => '',
        timezone: async () => 'UTC',
        addPage: () => () => undefined,
      },
    },
    findKnowledge,
    generateText: async (input) => {
      asked.push(input);
      return {
        content: 'Answer',
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
        provider: 'OpenAI',
        providerId: 'openai',
        model: 'm',
        ignored: [],
        usageEstimated: false,
        cost: 5,
      };
    },
  });
  const settings = fillDefaults(formSchema, {
    prompt: 'What about {topic}?',
    instructions: 'Today is [date].',
    knowledge: { enabled: true, base: 7 },
    parameters: { temperature: 0 },
  }) as AiForm;
  const context = {
    form: { ...settings, id: 3 },
    submission: 'a-uuid',
    user: { id: 0, displayName: '', roles: [] },
    pageUrl: '',
    inputs: {},
    display_values: {},
    labels: {},
  };
  return {
    asked,
    hooks,
    make: () => generateResponse({ context, promptValues: { topic: 'salt' }, signal: new AbortController().signal }),
  };
}

describe('the answer of a form', () => {
  it('is generation with the knowledge that fits the filled-in prompt, whose placeholders stay as they are', async () => {
    const looked: FindKnowledgeInput[] = [];
    const { asked, make } = open(async (input) => {
      looked.push(input);
      return [text];
    });
    const { generation, response } = await make();
    expect([response, generation.cost, generation.sources]).to.deep.equal([
      'Answer',
      5,
      [{ title: 'Prices', url: 'https://example.com/prices', score: 80 }],
    ]);
    expect(looked[0]).to.deep.include({
      text: 'What about salt?',
      origin: { module: 'ai-forms', route: null, botId: null, reference: 'form:3:a-uuid', userId: 0 },
    });
    expect(asked[0]?.systemInstruction)
      .to.match(/^Today is 2026-11-21\.\n\nThe texts between <texts>/)
      .and.to.contain('Salt costs [date].');
    expect(asked[0]).to.deep.include({
      messages: [{ role: 'user', content: 'What about salt?' }],
      params: { temperature: 0, max_completion_tokens: 4_000 },
      placeholders: false,
    });
  });

  it('is generation without the knowledge where that fails, and says so to hooks', async () => {
    const { asked, hooks, make } = open(async () => Promise.reject(new Error('The store is gone.')));
    const failures: unknown[] = [];
    hooks.addAction('svc_form_knowledge_failed', (error) => void failures.push(error));
    const { generation } = await make();
    expect([generation.sources, asked[0]?.systemInstruction, failures.map(String)]).to.deep.equal([
      [],
      'Today is 2026-11-21.',
      ['Error: The store is gone.'],
    ]);
  });
});
