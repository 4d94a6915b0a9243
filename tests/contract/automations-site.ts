import type { TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import type { AutomationItem, AutomationTaskType } from '../../plugins/svc/kit/automation-task.ts';
import type { AutomationTools } from '../../plugins/svc/modules/automations/hooks.ts';
import type { Item } from '../../plugins/svc/modules/automations/queue/item.ts';
import type { Task } from '../../plugins/svc/modules/automations/tasks/task.ts';
import { createMigratedHost } from '../helpers/migrated.ts';
import { until } from '../helpers/until.ts';

/** What the kind of work `test_notes` does with an item; a test replaces it. Default: asks the sandbox, and writes a post of the answer. */
export type Work = (item: AutomationItem, tools: AutomationTools) => ReturnType<AutomationTaskType['run']>;

export interface AutomationsSite {
  readonly host: TestHost;
  work: Work;
  /** Runs a command of the command line and reads its JSON. Throws an Error with what it complained of. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are compared, not typed.
  cli(...argv: string[]): Promise<any>;
  task(settings?: object): Promise<Task>;
  items(
    task: Task,
    ...flags: string[]
  ): Promise<
    readonly (Pick<Item, 'id' | 'target' | 'state' | 'attempts' | 'message'> & {
      readonly post: number | null;
      readonly cost: string;
      readonly provider: string | null;
    })[]
  >;
  /** Looks until the items of a task are all in one of these states. */
  until(task: Task, ...states: readonly string[]): Promise<Awaited<ReturnType<AutomationsSite['items']>>>;
  stop(): Promise<void>;
}

export interface SiteInit {
  readonly database?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the sandbox answers. Default true. */
  readonly sandbox?: boolean;
  /** Seconds before further attempts. Default none. */
  readonly delays?: readonly number[];
}

/** A whole site with a plugin's kind of work. */
export async function startAutomationsSite({
  database,
  env = {},
  sandbox = true,
  delays = [0],
}: SiteInit = {}): Promise<AutomationsSite> {
  const host = await createMigratedHost({
    plugins: ['svc', 'sandbox'],
    clock: createSystemClock(),
    env,
    ...(database !== undefined && { database }),
  });
  host.hooks.addFilter('svc_automation_task_types', (types: readonly AutomationTaskType[], tools: AutomationTools) => [
    ...types,
    notes(tools, () => site.work),
  ]);
  host.hooks.addFilter('svc_automation_retry_delays', () => delays);
  await host.options.update('svc_sandbox', sandbox);
  const site: AutomationsSite = {
    host,
    work: (item, tools) => writeNote(host, item, tools),
    async cli(...argv) {
      const { code, out, err } = await host.cli(...argv, ...(argv.includes('--json') ? [] : ['--json']));
      if (code !== 0) throw new Error(err.trim());
      return JSON.parse(out);
    },
    task: (settings = {}) =>
      site.cli(
        'svc',
        'task',
        'create',
        '--json',
        JSON.stringify({
          name: 'Notes',
          type: 'test_notes',
          source: { kind: 'list', items: ['one', 'two', 'three'] },
          ...settings,
        }),
      ) as Promise<Task>,
    items: (task, ...flags) =>
      site.cli('svc', 'task', 'items', String(task.id), '--limit=200', ...flags) as ReturnType<
        AutomationsSite['items']
      >,
    async until(task, ...states) {
      let items = await site.items(task);
      await until(`items of task ${String(task)} that are ${states.join(' or ')}`, async () => {
        items = await site.items(task);
        return items.length > 0 && items.every(({ state }) => states.includes(state));
      });
      return items;
    },
    stop: () => host.stop(),
  };
  // As if the plugin had been switched on while the host runs.
  await host.hooks.doActionAsync('activated_plugin', 'notes');
  return site;
}

/** A kind of work as a third party's plugin adds it. */
function notes(tools: AutomationTools, work: () => Work): AutomationTaskType {
  return {
    id: 'test_notes',
    label: 'Write notes',
    description: 'Writes a note about each item.',
    settings: {
      type: 'object',
      properties: {
        provider: { type: 'string', enum: ['openai', 'claude'], default: 'openai', title: 'Provider' },
        model: { type: 'string', title: 'Model', default: '' },
        prompt: {
          type: 'string',
          format: 'textarea-field',
          title: 'Prompt',
          default: 'echo: A note about {target}',
          minLength: 1,
        },
        words: { type: 'integer', title: 'Words', minimum: 10, maximum: 1000, default: 100 },
        publish: { type: 'boolean', title: 'Publish at once', default: false },
        tags: { type: 'array', items: { type: 'string' }, title: 'Tags' },
      },
    },
    sources: ['list', 'csv', 'rss', 'posts'],
    check: async ({ prompt }) =>
      Promise.resolve(String(prompt).includes('{target}') ? {} : { prompt: 'Prompt must hold {target}.' }),
    run: (item) => work()(item, tools),
  };
}

async function writeNote(
  { content: site }: TestHost,
  { target, settings, origin, signal, task }: AutomationItem,
  { generateText }: AutomationTools,
): ReturnType<AutomationTaskType['run']> {
  const { content, provider, model } = await generateText({
    provider: String(settings['provider']),
    messages: [{ role: 'user', content: String(settings['prompt']).replace('{target}', target) }],
    origin,
    signal,
  });
  return {
    message: 'The note is written.',
    ai: { provider, model },
    commit: async () => ({
      postId: (
        await site.posts.create({
          title: target,
          content,
          authorId: task.authorId,
          status: settings['publish'] === true ? 'publish' : 'draft',
        })
      ).id,
    }),
  };
}
