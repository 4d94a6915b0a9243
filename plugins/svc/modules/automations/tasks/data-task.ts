import type { HostApi, JsonSchema } from '#plugin-api';
import { fillItemPrompt, findItemPost, taskModelSchema } from '../../../kit/automation-prompt.ts';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../../kit/automation-task.ts';
import { errors } from '../../../kit/errors.ts';
import {
  dataSentence,
  outputFieldErrors,
  outputFieldsHelp,
  outputFieldsSchema,
  outputOfFields,
} from '../../../kit/output-fields.ts';
import type { ProvidersPort } from '../../../ports.ts';
import type { AutomationTools } from '../hooks.ts';

interface DataTaskParts extends Pick<AutomationTools, 'generateText'>, Pick<ProvidersPort, 'providers'> {
  readonly host: Pick<HostApi, 'content'>;
}

interface DataTaskSettings {
  readonly provider: string;
  readonly model: string;
  readonly prompt: string;
  readonly fields: readonly string[];
  readonly store: boolean;
}

/** The task `data_extraction`: a model fills in fields for each item. */
export function createDataTask(parts: DataTaskParts): AutomationTaskType {
  return {
    id: 'data_extraction',
    label: 'Extract data',
    description: 'Fills in fields for each post, topic, row or feed entry, such as a price, a language or tags.',
    sources: ['posts', 'list', 'csv', 'rss'],
    settings: settingsSchema(parts.providers),
    check: async ({ fields, prompt }) =>
      Promise.resolve({
        ...outputFieldErrors(fields as readonly string[], 'fields'),
        ...((fields as readonly string[]).length === 0 && { fields: 'Enter at least one field.' }),
        ...(String(prompt).trim() === '' && { prompt: 'Enter a prompt.' }),
      }),
    run: (item) => run(parts, item),
  };
}

function settingsSchema(providers: DataTaskParts['providers']): JsonSchema {
  const choices = providers.all().filter(({ text }) => text !== undefined);
  return {
    type: 'object',
    properties: {
      provider: {
        type: 'string',
        title: 'Provider',
        oneOf: choices.map(({ id, label }) => ({ const: id, title: label })),
        default: choices[0]?.id ?? '',
      },
      model: { ...taskModelSchema, maxLength: 200 },
      prompt: {
        type: 'string',
        title: 'Prompt',
        format: 'textarea-field',
        maxLength: 20_000,
        default: 'Find the values of the fields in this text. Leave out what it does not say.\n\n{title}\n\n{text}',
        description:
          '{target} is the queued item, {title} and {text} are those of the post or entry. Use {name} for any other column.',
      },
      fields: { ...outputFieldsSchema, title: 'Fields', description: outputFieldsHelp },
      store: {
        type: 'boolean',
        title: 'Store the values with the post',
        default: true,
        description: 'Only for posts: as custom fields with the names of the fields.',
      },
    },
    additionalProperties: false,
  };
}

async function run({ host, generateText }: DataTaskParts, item: AutomationItem): Promise<AutomationResult> {
  const { provider, model, prompt, fields, store } = item.settings as unknown as DataTaskSettings;
  const post = await findItemPost(host, item);
  const content = fillItemPrompt(prompt, item, post);
  if (content.trim() === '') throw errors.empty_input({ values: { name: 'The prompt' } });
  const { data, ...text } = await generateText({
    provider,
    model,
    messages: [{ role: 'user', content }],
    placeholders: false,
    output: outputOfFields(fields),
    origin: item.origin,
    signal: item.signal,
  });
  const values = data as Readonly<Record<string, unknown>>;
  return {
    message: dataSentence(fields, values),
    ai: { provider: text.provider, model: text.model },
    data: values,
    async commit() {
      if (post === null || !store) return {};
      await host.content.posts.update(post.id, { meta: values });
      return { postId: post.id };
    },
  };
}
