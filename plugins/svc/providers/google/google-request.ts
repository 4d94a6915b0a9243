import type { GenerateContentParameters } from '@google/genai';
import { mapParams, type MappedParams, type ParamRules } from '../params.ts';
import { base64Of, type ProviderSettings, type TextMessage, type TextRequest } from '../provider.ts';
import { googleParams } from './google-models.ts';

export const googleRules: ParamRules = {
  names: {
    temperature: 'temperature',
    max_completion_tokens: 'maxOutputTokens',
    top_p: 'topP',
    frequency_penalty: 'frequencyPenalty',
    presence_penalty: 'presencePenalty',
    stop: 'stopSequences',
    seed: 'seed',
    top_k: 'topK',
    reasoning_effort: 'thinkingConfig',
  },
  byModel: googleParams,
};

type Part = { readonly text: string } | { readonly inlineData: { readonly mimeType: string; readonly data: string } };

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly Part[];
}

/** The parameters of the SDK's `models.generateContent`. */
export function googleRequest(
  request: TextRequest,
  settings: ProviderSettings,
): { parameters: Pick<GenerateContentParameters, 'model' | 'contents' | 'config'>; ignored: MappedParams['ignored'] } {
  const { wire, ignored } = mapParams(googleRules, { params: request.params, model: request.model, settings });
  const contents = googleContents(request.messages) as GenerateContentParameters['contents'];
  const config = { ...wire, ...(request.system !== null && { systemInstruction: request.system }) };
  return { parameters: { model: request.model, contents, config }, ignored };
}

/** Gemini requires alternating roles, so adjacent messages of one role become parts of one content. */
function googleContents(messages: readonly TextMessage[]): Content[] {
  const contents: Content[] = [];
  for (const message of messages) {
    const parts = partsOf(message);
    const theirs = message.role === 'assistant' ? 'model' : 'user';
    const last = contents.at(-1);
    if (last?.role === theirs) contents[contents.length - 1] = { role: theirs, parts: [...last.parts, ...parts] };
    else contents.push({ role: theirs, parts });
  }
  return contents;
}

/** Images come before the text. */
function partsOf({ content, images = [] }: TextMessage): Part[] {
  const seen = images.map((image) => ({ inlineData: { mimeType: image.mimeType, data: base64Of(image) } }));
  return content === '' && seen.length > 0 ? seen : [...seen, { text: content }];
}
