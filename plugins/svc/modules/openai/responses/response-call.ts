import { setImmediate as nextTurn } from 'node:timers/promises';
import { asRecord } from '#plugin-api';
import { generateForDoor } from '../../../ai/generate-for-door.ts';
import type { GivenRequest } from '../../../ai/generate-text.ts';
import { createImageAddresses } from '../../../ai/image-addresses.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import type { AiParamName } from '../../../kit/ai-params.ts';
import { callerOf, isLenient } from '../../../kit/caller.ts';
import { requireSentScopes } from '../../../kit/sent-scopes.ts';
import { invalid } from '../../../kit/read-members.ts';
import { findModel, type ChosenModel } from '../../../settings/find-model.ts';
import type { OpenAiPorts, OpenAiRequest } from '../openai-ports.ts';
import { botResponseCall } from './bot-response-call.ts';
import { readInput, type LostMembers } from './read-input.ts';
import { readResponseParams } from './read-response-params.ts';
import { notSupported, responsesPath, type GivenResponse, type ResponseCall } from './response-run.ts';

/** A validated call. @throws RestError 400 or 404 that names the parameter */
export async function readResponseCall(request: OpenAiRequest, ports: OpenAiPorts): Promise<ResponseCall> {
  const body = asRecord(request.json);
  const { params } = request;
  const stream = params['stream'] === true;
  if (params['background'] === true && !stream)
    throw invalid('background', 'needs stream: a response is only returned by the request that asks for it.');
  const chosen = await findModel(String(params['model']), ports, callerOf(request));
  const lost: LostMembers = { needed: [], spared: [] };
  const addresses = createImageAddresses(ports.host.http);
  // Images are decoded apart from the parsing of the body, so that other requests go on between (D46).
  await nextTurn();
  const messages = readInput(params['input'], { addresses, lost });
  const given = { body, messages, request, lost };
  if (chosen.kind === 'bot') return { body, stream, run: botResponseCall(chosen.id, given, ports) };
  const isNative = await servesResponses(chosen, ports);
  if (!isNative) refuseConversation(body);
  const isSpared = isLenient(request) && !isNative;
  requireSentScopes(body, { format: 'responses', provider: chosen.provider, caller: callerOf(request), isSpared });
  const run = textCall(chosen, { ...given, addresses }, ports);
  return { body, stream, run };
}

/** Whether the provider gets the request as it was sent. */
async function servesResponses(
  { provider, model }: Extract<ChosenModel, { kind: 'provider' }>,
  { providers, settings }: OpenAiPorts,
): Promise<boolean> {
  return providers.get(provider)?.text?.format?.(model, await settings.provider(provider)) === 'responses';
}

/**
 * Nothing is stored here. A vendor with this format has what it stored itself.
 *
 * @throws RestError 400 for a conversation that only another vendor could know
 */
function refuseConversation(body: GivenResponse['body']): void {
  const stored = ['previous_response_id', 'conversation'].find((name) => (body[name] ?? null) !== null);
  if (stored === undefined) return;
  throw invalid(stored, 'is not supported: responses are not stored. Send the whole conversation as input.');
}

interface GivenText extends GivenResponse {
  readonly addresses: ReturnType<typeof createImageAddresses>;
}

function textCall(
  { provider, model }: Extract<ChosenModel, { kind: 'provider' }>,
  { body, messages, request, lost, addresses }: GivenText,
  { host: { hooks }, generateText }: OpenAiPorts,
): ResponseCall['run'] {
  const { params, extras } = readResponseParams(body, lost);
  const { instructions } = body;
  const system: ConversationMessage[] =
    typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
  const conversation = [...system, ...messages];
  const given = Object.keys(params) as AiParamName[];
  const native: GivenRequest = { format: 'responses', body, given, images: addresses, ...lost };
  return async (signal, { onText, onReasoning, onEvent } = {}) => {
    // What a filter changes is the request in the words of this service: it is translated then.
    const isTranslated = hooks.hasFilter('svc_text_request') !== false;
    const [needed] = lost.needed;
    if (isTranslated && needed !== undefined && !isLenient(request)) throw notSupported(needed, { provider, model });
    const call = await hooks.applyFiltersAsync(
      'svc_text_request',
      { provider, model, messages: conversation, ai_params: params, ...extras },
      request,
    );
    const { generated } = await generateForDoor(
      {
        ...{ request, call, path: responsesPath, signal, onText, onReasoning, onEvent },
        loadImages: (named, stop) => addresses.load(named, stop),
        native: isTranslated ? undefined : native,
      },
      { hooks, generateText },
    );
    return { ...generated, ignored: [...generated.ignored, ...(isTranslated ? [...lost.needed, ...lost.spared] : [])] };
  };
}
