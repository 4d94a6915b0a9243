import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import type { AutomationTaskType } from '../../plugins/svc/kit/automation-task.ts';
import type { AutomationTools } from '../../plugins/svc/modules/automations/hooks.ts';
import { sandboxKey } from '../../plugins/sandbox/fake.ts';
import type { Location } from './webhook-nodes.ts';

/** What an item's work leaves behind, in the transaction that completes it: a row each, so that whatever happened twice is seen. */
export const resultsTable = 'fault_results';
export const model = 'gpt-4o-mini';

export interface AutomationsHostInit {
  readonly location: Location;
  /** Of the sandbox's server in the process of the test, which counts and fails calls. */
  readonly sandboxUrl: string;
  readonly role: 'web' | 'worker';
}

/** A whole host on the database of the test, with a kind of work that asks a provider over real HTTP and stores the answer. */
export async function openAutomationsHost({
  location: { databaseUrl, dataDir },
  sandboxUrl,
  role,
}: AutomationsHostInit): Promise<TestHost> {
  const host = await createTestHost({
    plugins: ['svc'],
    clock: createSystemClock(),
    database: databaseUrl ?? dataDir,
    env: { ROLE: role, SECRET_KEY: 'f'.repeat(64) },
  });
  host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
    id === 'openai' ? { ...settings, api_key: sandboxKey, base_url: `${sandboxUrl}/openai/v1`, model } : settings,
  );
  host.hooks.addFilter('svc_automation_task_types', (types: readonly AutomationTaskType[], tools: AutomationTools) => [
    ...types,
    answers(host, tools),
  ]);
  host.hooks.addFilter('svc_automation_retry_delays', () => [0.1]);
  // As if the plugin had been switched on while the host runs.
  await host.hooks.doActionAsync('activated_plugin', 'answers');
  return host;
}

function answers(host: TestHost, { generateText }: AutomationTools): AutomationTaskType {
  return {
    id: 'fault_answers',
    label: 'Answers',
    description: 'Stores an answer about each item.',
    settings: { type: 'object', properties: {} },
    sources: ['list'],
    async run({ key, target, origin, signal }) {
      const {
        content,
        provider,
        model: answered,
      } = await generateText({
        provider: 'openai',
        messages: [{ role: 'user', content: `echo: about ${target}` }],
        origin,
        signal,
      });
      return {
        message: 'The answer is stored.',
        ai: { provider, model: answered },
        commit: async (transaction) => {
          await transaction(resultsTable).insert({ key, content });
          // Takes part by itself, as everything of the host does.
          return { postId: (await host.content.posts.create({ title: target, content })).id };
        },
      };
    },
  };
}
