import type { HostApi } from '#plugin-api';
import { knowledgePrompt, listSources } from '../../../kit/assistants/assistant-knowledge.ts';
import type { FindKnowledge, KnowledgePassage } from '../../../kit/assistants/assistant-knowledge.ts';
import type { GenerateText } from '../../../ai/generate-text.ts';
import { fillPlaceholders } from '../../../ai/system-text.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import { errors } from '../../../kit/errors.ts';
import type { SourceImage } from '../../../kit/image-params.ts';
import type { UsageOrigin } from '../../../kit/usage-origin.ts';
import type { FormParameters } from '../forms/form.ts';
import { dataTable, outputOfFields } from '../../../kit/output-fields.ts';
import { fillTemplate } from '../forms/prompt-template.ts';
import '../hooks.ts';
import type { FormPrompt, SubmissionContext } from '../hooks.ts';
import type { Generation, Source } from '../submissions/submission.ts';

export interface GenerateResponseParts {
  readonly host: Pick<HostApi, 'hooks' | 'log' | 'clock' | 'site'>;
  readonly generateText: GenerateText;
  readonly findKnowledge: FindKnowledge;
}

export interface GenerateResponseInput {
  readonly context: SubmissionContext;
  /** Values for `{id}` in the prompt. */
  readonly promptValues: Readonly<Record<string, string>>;
  readonly images?: readonly SourceImage[] | undefined;
  readonly signal: AbortSignal;
  readonly onText?: ((piece: string) => void) | undefined;
  readonly onSources?: ((sources: readonly Source[]) => void) | undefined;
}

export interface GeneratedResponse {
  /** Markdown. */
  readonly response: string;
  readonly generation: Generation;
}

export type GenerateResponse = (input: GenerateResponseInput) => Promise<GeneratedResponse>;

/** Generates the response to a submission. Stores nothing and sends no events. */
export function createGenerateResponse({ host, generateText, findKnowledge }: GenerateResponseParts): GenerateResponse {
  const { hooks, clock, site, log } = host;

  async function findPassages(
    { context, signal }: GenerateResponseInput,
    question: string,
  ): Promise<readonly KnowledgePassage[]> {
    const { form, user, submission } = context;
    if (!form.knowledge.enabled) return [];
    const asker = form.privacy.keep ? { userId: user.id, conversation: null } : null;
    const found = await findKnowledge({
      knowledge: form.knowledge,
      text: question,
      origin: originOf(context),
      signal,
      asker,
    }).catch(async (error: unknown) => {
      if (signal.aborted) throw error;
      log.warn('Knowledge search of a form failed', {
        event: 'form_knowledge_failed',
        form: form.id,
        submission,
        error,
      });
      await hooks.doActionAsync('svc_form_knowledge_failed', error, context);
      return [];
    });
    return hooks.applyFiltersAsync('svc_form_knowledge', found, context);
  }

  async function promptOf(input: GenerateResponseInput): Promise<FormPrompt> {
    const { context, promptValues } = input;
    const { form, user } = context;
    const prompt = fillTemplate(form.prompt, promptValues).trim();
    const [timezone, knowledge] = await Promise.all([site.timezone(), findPassages(input, prompt)]);
    const placeholders = { now: clock.now(), timezone, username: user.id > 0 ? user.displayName : 'Guest' };
    return hooks.applyFiltersAsync(
      'svc_form_prompt',
      {
        provider: form.provider,
        model: form.model,
        params: paramsOf(form.parameters),
        system: fillPlaceholders(form.instructions, placeholders),
        knowledge,
        prompt,
        images: input.images ?? [],
      },
      context,
    );
  }

  return async (input) => {
    const { context, signal, onText, onSources } = input;
    const prompt = await promptOf(input);
    const sources = context.form.knowledge.show_sources ? listSources(prompt.knowledge) : [];
    if (sources.length > 0) onSources?.(sources);
    const { output } = context.form;
    const isData = output.length > 0;
    const streams =
      onText !== undefined && !isData && (await hooks.applyFiltersAsync('svc_form_streams', true, context));
    const { provider, model, params, images = [] } = prompt;
    const text = await generateText({
      provider,
      model,
      params,
      signal,
      user: context.user,
      placeholders: false,
      origin: originOf(context),
      systemInstruction: [prompt.system, knowledgePrompt(prompt.knowledge)]
        .filter((part) => part.trim() !== '')
        .join('\n\n'),
      messages: [{ role: 'user', content: prompt.prompt, ...(images.length > 0 && { images }) }],
      ...(isData && { output: outputOfFields(output) }),
      ...(streams && { onText }),
    });
    const generation: Generation = {
      provider: text.provider,
      model: text.model,
      usage: text.usage,
      cost: text.cost,
      sources,
      ...(text.finish !== undefined && { finish: text.finish }),
      ...(isData && { data: text.data as NonNullable<Generation['data']> }),
    };
    const shown = isData ? dataTable(output, text.data) : text.content;
    const response = await hooks.applyFiltersAsync('svc_form_response', shown, generation, context);
    if (response.trim() === '') throw errors.form_answer_empty();
    if (!streams) onText?.(response);
    return { response, generation };
  };
}

function originOf({ form, submission, user }: SubmissionContext): UsageOrigin {
  const reference = `form:${String(form.id)}:${submission}`;
  return { module: 'ai-forms', route: null, botId: null, reference, userId: user.id };
}

/** Null means the global default. */
function paramsOf(parameters: FormParameters): AiParams {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null)) as AiParams;
}
