import { errors } from '../kit/errors.ts';
import type { Reasoning } from '../kit/reasoning.ts';
import type { NativeRequest, ProviderSettings, TextRequest } from '../providers/provider.ts';
import type { Capable } from './capable-provider.ts';
import type { GenerateTextInput } from './generate-text.ts';

/** What the caller sent, if the provider has an API of that format and nothing else was asked for. */
export function nativeRequest(
  { text }: Capable<'text'>,
  { native, output, model }: Pick<GenerateTextInput, 'native' | 'output'> & { readonly model: string },
  saved: ProviderSettings,
): NativeRequest | undefined {
  if (output !== undefined || native === undefined || text.format?.(model, saved, native.format) !== native.format)
    return undefined;
  return native.namesImages === true && text.fetchesImages?.(saved) !== true ? undefined : native;
}

/**
 * The members of the caller's request that its provider does not get, because its API has another format.
 *
 * @throws RestError 400 `rest_svc_parameter_not_supported` for one that it cannot do without, unless `lenient`
 */
export function lostMembers(
  provider: Capable<'text'>,
  { native, lenient, model }: Pick<GenerateTextInput, 'native' | 'lenient'> & { readonly model: string },
): readonly string[] {
  const { needed = [], spared = [], refusal } = native ?? {};
  if (refusal !== undefined) throw refusal;
  const [param] = needed;
  if (param !== undefined && lenient !== true)
    throw errors.parameter_not_supported({
      values: { provider: provider.label, model, param },
      data: { param, provider: provider.id, model },
    });
  return [...needed, ...spared];
}

/** The request with the reasoning that its vendor returned itself, and whether there was any other. */
export function withoutReasoning(
  request: TextRequest,
  { text }: Capable<'text'>,
  saved: ProviderSettings,
): { readonly request: TextRequest; readonly isLost: boolean } {
  const takes = text.supports?.('messages.reasoning', request.model, saved) === true;
  const format = takes ? text.format?.(request.model, saved) : undefined;
  const isForeign = (piece: Reasoning): boolean => format === undefined || piece.format !== format;
  if (!request.messages.some(({ reasoning = [] }) => reasoning.some(isForeign))) return { request, isLost: false };
  const messages = request.messages.map(({ reasoning = [], ...message }) => {
    const own = reasoning.filter((piece) => !isForeign(piece));
    return own.length === 0 ? message : { ...message, reasoning: own };
  });
  return { request: { ...request, messages }, isLost: true };
}
