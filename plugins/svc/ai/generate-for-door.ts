import type { FilterMap, HooksApi, RestRequest } from '#plugin-api';
import { isLenient } from '../kit/caller.ts';
import { restOrigin } from '../kit/usage-origin.ts';
import type { GeneratedText, GenerateText, GenerateTextInput } from './generate-text.ts';

interface DoorText
  extends
    Pick<GenerateTextInput, 'native' | 'loadImages' | 'signal'>,
    Pick<GenerateTextInput, 'onText' | 'onReasoning' | 'onEvent'> {
  readonly request: RestRequest;
  /** What the filter `svc_text_request` made of the request. */
  readonly call: Parameters<FilterMap['svc_text_request']>[0];
  /** Of the route, for the usage ledger. */
  readonly path: string;
}

/**
 * The text of a route in the format of a vendor, after the filter `svc_text_response`. That needs the whole text: where it has
 * callbacks, no pieces are passed on, and the vendor's own answer, which has the text before it, is left out.
 */
export async function generateForDoor(
  { request, call, path, onText, onReasoning, onEvent, ...given }: DoorText,
  { hooks, generateText }: { readonly hooks: HooksApi; readonly generateText: GenerateText },
): Promise<{ readonly generated: GeneratedText; readonly isFiltered: boolean }> {
  const isFiltered = hooks.hasFilter('svc_text_response') !== false;
  const isLenientKey = isLenient(request);
  const generated = await generateText({
    ...call,
    ...given,
    systemInstruction: call.system_instruction,
    // Texts of other programs stay as they are.
    placeholders: false,
    params: call.ai_params,
    strict: !isLenientKey,
    lenient: isLenientKey,
    acceptsEmpty: true,
    user: request.user,
    origin: restOrigin(request, path),
    ...(!isFiltered && { onText, onReasoning, onEvent }),
  });
  if (!isFiltered) return { generated, isFiltered };
  const { native: _native, ...result } = generated;
  const { content, usage } = await hooks.applyFiltersAsync(
    'svc_text_response',
    { content: result.content, usage: result.usage, provider: result.provider, model: result.model },
    call,
    request,
  );
  return { generated: { ...result, content, usage }, isFiltered };
}
