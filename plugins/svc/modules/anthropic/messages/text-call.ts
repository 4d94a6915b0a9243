import { generateForDoor } from '../../../ai/generate-for-door.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import { isLenient } from '../../../kit/caller.ts';
import { errors } from '../../../kit/errors.ts';
import type { TextExtras } from '../../../kit/tools.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import type { ChosenModel } from '../../../settings/find-model.ts';
import type { AnthropicPorts } from '../anthropic-ports.ts';
import type { GivenMessage, MessageResult, RunMessage } from './given-message.ts';

export const messagesPath = '/svc-anthropic/v1/messages';

/** A message of a provider. */
export function textCall(
  { provider, model }: Extract<ChosenModel, { kind: 'provider' }>,
  given: GivenMessage,
  { host: { hooks }, generateText }: AnthropicPorts,
): RunMessage {
  const { request, reading } = given;
  return async (signal, pieces) => {
    const sent = { provider, model, messages: given.messages, ai_params: given.params, ...given.extras };
    const before = hooks.hasFilter('svc_text_request') === false ? null : whatIsSaid(sent);
    const call = await hooks.applyFiltersAsync('svc_text_request', sent, request);
    const isChanged = before !== null && whatIsSaid(call) !== before;
    if (isChanged) refuseLost(given);
    const { generated, isFiltered } = await generateForDoor(
      {
        ...{ request, call, path: messagesPath, signal },
        loadImages: (named, stop) => reading.images.load(named, stop),
        native: isChanged ? undefined : given.native,
        ...pieces,
      },
      { hooks, generateText },
    );
    const { needed, spared } = given.native;
    const ignored = isChanged ? [...generated.ignored, ...needed, ...spared] : generated.ignored;
    if (isFiltered) {
      for (const piece of generated.reasoning ?? []) pieces?.onReasoning(piece);
      if (generated.content !== '') pieces?.onText(generated.content);
    }
    return { ...generated, ignored } satisfies MessageResult;
  };
}

interface Said extends TextExtras {
  readonly provider: string;
  readonly model: string;
  readonly messages: readonly ConversationMessage[];
  readonly system_instruction?: string;
  readonly ai_params: AiParams;
}

/** What of a request filters may change, but for provider and model. Images count by their length. */
function whatIsSaid({ messages, provider: _provider, model: _model, ...rest }: Said): string {
  const said = messages.map(({ images = [], ...message }) => ({
    ...message,
    images: images.map(({ url, base64, bytes }) => [url, (base64 ?? bytes).length]),
  }));
  return JSON.stringify([said, rest]);
}

/** A request that a filter changed is translated, so what has no translation is lost. @throws RestError 400 */
function refuseLost({ native: { needed }, chosen, request }: GivenMessage): void {
  const [param] = needed;
  if (param === undefined || isLenient(request) || chosen.kind !== 'provider') return;
  const { provider, model } = chosen;
  throw errors.parameter_not_supported({ values: { provider, model, param }, data: { param, provider, model } });
}
