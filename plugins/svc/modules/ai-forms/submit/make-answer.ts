import type { HostApi } from '#plugin-api';
import {
  knowledgePrompt,
  listSources,
  type FindKnowledge,
  type KnowledgePassage,
} from '../../../kit/assistants/assistant-knowledge.ts';
import type { GenerateText } from '../../../ai/generate-text.ts';
import { fillPlaceholders } from '../../../ai/system-text.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import { errors } from '../../../kit/errors.ts';
import type { FormParameters } from '../forms/form.ts';
import { fillTemplate } from '../forms/prompt-template.ts';
import '../hooks.ts';
import type { FormPrompt, FormTurn } from '../hooks.ts';
import type { Made, Source } from '../submissions/submission.ts';

export interface MakeAnswerParts {
  readonly host: Pick<HostApi, 'hooks' | 'log' | 'clock' | 'site'>;
  readonly generateText: GenerateText;
  readonly findKnowledge: FindKnowledge;
}

export interface MakeAnswerInput {
  readonly turn: FormTurn;
  /** What stands for `{id}` in the prompt. */
  readonly promptValues: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly onText?: ((piece: string) => void) | undefined;
  readonly onSources?: ((sources: readonly Source[]) => void) | undefined;
}

export interface MadeAnswer {
  /** Markdown. */
  readonly response: string;
  readonly made: Made;
}

export type MakeAnswer = (input: MakeAnswerInput) => Promise<MadeAnswer>;

/** Makes the answer to a submission: prompt, knowledge, filters, provider. Stores nothing and sends no events. */
export function createMakeAnswer({ host, generateText, findKnowledge }: MakeAnswerParts): MakeAnswer {
  const { hooks, clock, site, log } = host;

  async function known({ turn, signal }: MakeAnswerInput, question: string): Promise<readonly KnowledgePassage[]> {
    const { form, user, submission } = turn;
    if (!form.knowledge.enabled) return [];
    const asker = form.privacy.keep ? { userId: user.id, conversation: null } : null;
    const found = await findKnowledge({
      knowledge: form.knowledge,
      text: question,
      origin: originOf(turn),
      signal,
      asker,
    }).catch(async (error: unknown) => {
      if (signal.aborted) throw error;
      log.warn('a form is answered without its knowledge', { form: form.id, submission, error });
      await hooks.doActionAsync('svc_form_knowledge_failed', error, turn);
      return [];
    });
    return hooks.applyFiltersAsync('svc_form_knowledge', found, turn);
  }

  async function promptOf(input: MakeAnswerInput): Promise<FormPrompt> {
    const { turn, promptValues } = input;
    const { form, user } = turn;
    const prompt = fillTemplate(form.prompt, promptValues).trim();
    const [timezone, knowledge] = await Promise.all([site.timezone(), known(input, prompt)]);
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
      },
      turn,
    );
  }

  return async (input) => {
    const { turn, signal, onText, onSources } = input;
    const prompt = await promptOf(input);
    const sources = turn.form.knowledge.show_sources ? listSources(prompt.knowledge) : [];
    if (sources.length > 0) onSources?.(sources);
    const streams = onText !== undefined && (await hooks.applyFiltersAsync('svc_form_streams', true, turn));
    const { provider, model, params } = prompt;
    const text = await generateText({
      provider,
      model,
      params,
      signal,
      user: turn.user,
      placeholders: false,
      origin: originOf(turn),
      systemInstruction: [prompt.system, knowledgePrompt(prompt.knowledge)]
        .filter((part) => part.trim() !== '')
        .join('\n\n'),
      messages: [{ role: 'user', content: prompt.prompt }],
      ...(streams && { onText }),
    });
    const made: Made = { provider: text.provider, model: text.model, usage: text.usage, cost: text.cost, sources };
    const response = await hooks.applyFiltersAsync('svc_form_response', text.content, made, turn);
    if (response.trim() === '') throw errors.form_answer_empty();
    if (!streams) onText?.(response);
    return { response, made };
  };
}

function originOf({ form, submission }: FormTurn) {
  return { module: 'ai-forms', route: null, botId: null, reference: `form:${String(form.id)}:${submission}` };
}

/** Those that are set; the others are the global ones. */
function paramsOf(parameters: FormParameters): AiParams {
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null)) as AiParams;
}
