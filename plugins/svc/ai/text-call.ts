import { setImmediate as nextTurn } from 'node:timers/promises';
import { asProviderError, type ProviderSettings, type TextRequest, type TextResult } from '../providers/provider.ts';
import { errors } from '../kit/errors.ts';
import { refuseStored } from '../kit/sent-scopes.ts';
import { givenHints, withoutHints } from '../kit/text-hints.ts';
import { neededFeatures, pickExtras, spareFeatures, withoutFeatures, type TextFeature } from '../kit/tools.ts';
import { capableProvider, chosenModel, type Capable } from './capable-provider.ts';
import { completeUsage, createPromptCount, estimateText, type CountPrompt } from './estimate-tokens.ts';
import type { GeneratedText, GenerateTextInput } from './generate-text.ts';
import { limitTexts } from './limit-texts.ts';
import { sendImages, setDataApart, setImagesApart, type ImagesApart } from './large-images.ts';
import { runUnrecorded, type AiServices, type CallTarget, type ProviderCall } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './upstream-failure.ts';
import { withRetries } from './retry.ts';
import { describeOutput, refusesFormat, requestOutput } from './structured-output.ts';
import { loadAddresses } from './load-addresses.ts';
import { lostMembers, nativeRequest, withoutReasoning } from './native-request.ts';
import { splitConversation } from './system-text.ts';
import { createTextAttempts, type TextAttempts } from './text-attempts.ts';
import { countAttempts } from './count-attempts.ts';
import { unpricedParam } from './billed-param.ts';

/** One text from one provider: system text (D7), parameters (D8), retries within the time limit (D9), usage (D25). */
export function createTextCall(services: AiServices): ProviderCall<GenerateTextInput, GeneratedText> {
  const { recordUsage = runUnrecorded } = services;
  const refusing: RefusingModels = new Set();
  return async (input, target) => {
    const call = await prepareText(services, { refusing, ...input }, target);
    const { provider, request, attempts, countPrompt } = call;
    return recordUsage({
      kind: 'text',
      provider: provider.id,
      model: request.model,
      origin: input.origin,
      limit: call.limits.total,
      estimate: () => estimateText(request, countPrompt),
      bypassedBudgetIds: target.bypassedBudgetIds,
      unpricedParam: () => unpricedParam(request, provider),
      run: async () => {
        const { request: filled, apart } = await withImages(call, input);
        // What was read of a large request, and what is written of it, each take their time: others go on between (D46).
        if (request.messages.length > manyMessages) await nextTurn();
        return runText(services, { ...call, request: filled, apart }, input.signal);
      },
      count: async ({ model, ...result }) => countAttempts(model, [...(await attempts.failed(services.host)), result]),
      countFailed: async () => countAttempts(request.model, await attempts.failed(services.host)),
    });
  };
}

/** Fewer are read and written in some milliseconds. */
const manyMessages = 1_000;

async function withImages(
  { request, provider, saved }: Pick<PreparedText, 'request' | 'provider' | 'saved'>,
  { loadImages, signal, native: given }: Pick<GenerateTextInput, 'loadImages' | 'signal' | 'native'>,
): Promise<Pick<SentText, 'request' | 'apart'>> {
  const { native } = request;
  if (native !== undefined && given !== undefined) {
    const isFetched = provider.text.fetchesImages?.(saved) === true;
    const { body, apart } = setDataApart(isFetched ? native.body : await loadAddresses(native, { ...given, signal }));
    return { request: { ...request, native: { ...native, body } }, apart };
  }
  const loaded = (await loadImages?.(request.messages, signal)) ?? request.messages;
  const { messages, apart } = setImagesApart(loaded);
  return { request: { ...request, messages }, apart };
}

/** A prepared text whose images have been loaded. */
interface SentText extends PreparedText {
  readonly apart: ImagesApart;
}

/** Models of this process that refused a format, by base URL and name. */
type RefusingModels = Set<string>;

interface PreparedText {
  readonly provider: Capable<'text'>;
  readonly saved: ProviderSettings;
  readonly request: TextRequest;
  /** Milliseconds (D50). */
  readonly limits: { readonly firstByte: number; readonly idle: number; readonly total: number };
  /** Hints and features that the model does not take. */
  readonly ignoredHints: readonly string[];
  readonly attempts: TextAttempts;
  readonly countPrompt: CountPrompt;
  /** The request without a format, if the model refuses it. Null: it has none that could be left out. */
  readonly unformatted: { readonly request: TextRequest; note(): void } | null;
}

async function prepareText(
  services: AiServices,
  input: GenerateTextInput & { readonly refusing: RefusingModels },
  target: CallTarget,
): Promise<PreparedText> {
  const { registry, settings, host } = services;
  const provider = capableProvider(registry, target.provider, 'text');
  const saved = await configuredSettings(provider, services, { origin: input.origin, model: target.model });
  const defaults = await settings.aiParams();
  const { text: firstByte, textIdle: idle = firstByte, textTotal: total = firstByte } = await settings.timeouts();
  const timezone = await host.site.timezone();
  const username = input.user && input.user.id > 0 ? input.user.displayName : 'Guest';
  const placeholders = input.placeholders === false ? null : { now: host.clock.now(), timezone, username };
  const conversation = splitConversation(input.messages, input.systemInstruction, placeholders);
  const requested: TextRequest = {
    model: chosenModel({ requested: target.model, saved: saved.model, provider, setting: 'model' }),
    ...conversation,
    params: { ...defaults, ...input.params },
    ...pickExtras(input),
    ...(input.strict === true && { required: Object.keys(input.params ?? {}) }),
  };
  const native = nativeRequest(provider, { ...input, model: requested.model }, saved);
  if (native !== undefined) {
    // The first provider had another format, which left it out.
    if (input.lenient === true) refuseStored(native.body, native.format, input.origin?.caller);
    // The site's defaults are not in the body.
    const request = { ...requested, params: input.params ?? {}, native };
    const countPrompt = createPromptCount(request, host);
    const attempts = createTextAttempts(provider.text, input, countPrompt);
    const limits = { firstByte, idle, total };
    return { provider, saved, limits, ignoredHints: [], attempts, countPrompt, request, unformatted: null };
  }
  const lost = lostMembers(provider, { ...input, model: requested.model });
  const spared = input.lenient === true ? lackedFeatures(provider, requested, saved) : [];
  const given = spared.length === 0 ? requested : withoutFeatures(requested, spared);
  // What is sent as it came is its vendor's to judge.
  if (given.native === undefined && given.messages.length === 0)
    throw errors.invalid_messages({ data: { param: 'messages' } });
  refuseUnseenImages(provider, given, saved);
  refuseUnsupported(provider, given, saved);
  const takes = (hint: TextFeature): boolean => provider.text.supports?.(hint, given.model, saved) === true;
  const plain = withoutReasoning(withoutHints(given, takes), provider, saved);
  const ignoredHints = [
    ...lost,
    ...spared,
    ...givenHints(given).filter((hint) => !takes(hint)),
    ...(plain.isLost ? ['messages.reasoning'] : []),
  ];
  const prepared = formatted({ provider, plain: plain.request, saved }, input);
  const countPrompt = createPromptCount(prepared.request, host);
  const attempts = createTextAttempts(provider.text, input, countPrompt);
  return { provider, saved, limits: { firstByte, idle, total }, ignoredHints, attempts, countPrompt, ...prepared };
}

/** Features of a request that it can do without, and that its model lacks. */
function lackedFeatures(
  { text }: Capable<'text'>,
  request: TextRequest,
  saved: ProviderSettings,
): readonly TextFeature[] {
  return neededFeatures(request, request.messages).filter(
    (feature) =>
      spareFeatures.some((spare) => spare === feature) && text.supports?.(feature, request.model, saved) !== true,
  );
}

/** The request in the format of `output`, if the model has not refused it before. */
function formatted(
  { provider, plain, saved }: Pick<PreparedText, 'provider' | 'saved'> & { readonly plain: TextRequest },
  { output, refusing }: Pick<GenerateTextInput, 'output'> & { readonly refusing: RefusingModels },
): Pick<PreparedText, 'request' | 'unformatted'> {
  if (output === undefined) return { request: plain, unformatted: null };
  const described = describeOutput(plain, output);
  const key = JSON.stringify([provider.id, saved.base_url, plain.model]);
  if (refusing.has(key)) return { request: described, unformatted: null };
  const supports = (feature: TextFeature): boolean => provider.text.supports?.(feature, plain.model, saved) === true;
  const note = (): void => {
    if (refusing.size >= 500) refusing.clear();
    refusing.add(key);
  };
  return { request: requestOutput(plain, output, supports), unformatted: { request: described, note } };
}

/** Before anything is reserved or sent. @throws RestError 400 `rest_svc_model_cannot_see`. */
function refuseUnseenImages(
  provider: Capable<'text'>,
  { model, messages }: Pick<TextRequest, 'model' | 'messages'>,
  saved: ProviderSettings,
): void {
  const hasImages = messages.some(({ images = [] }) => images.length > 0);
  if (!hasImages || provider.text.sees?.(model, saved) === true) return;
  throw errors.model_cannot_see({ values: { provider: provider.label, model }, data: { param: 'messages' } });
}

/**
 * Before anything is reserved or sent: tools, formats and required parameters are never left out.
 *
 * @throws RestError 400 `rest_svc_parameter_not_supported`; `data.param` is its name as OpenAI has it.
 */
function refuseUnsupported(provider: Capable<'text'>, request: TextRequest, saved: ProviderSettings): void {
  const { model, params, required = [] } = request;
  const { text } = provider;
  const features = neededFeatures(request, request.messages).filter(
    (feature) => text.supports?.(feature, model, saved) !== true,
  );
  const names =
    text.unsupportedParams?.({ params, model, settings: saved }) ??
    Object.keys(params).filter((name) => !Object.hasOwn(text.params, name));
  const [param] = [...names.filter((name) => required.includes(name)), ...features];
  if (param === undefined) return;
  throw errors.parameter_not_supported({
    values: { provider: provider.label, model, param },
    data: { param, provider: provider.id, model },
  });
}

async function runText(
  services: AiServices,
  { provider, saved, request, apart, limits, ignoredHints, attempts, countPrompt, unformatted }: SentText,
  signal: AbortSignal | undefined,
): Promise<Omit<GeneratedText, 'cost'>> {
  const { clock } = services.host;
  const { firstByte, idle, total } = limits;
  const started = clock.now();
  const attempt = (timeLeft: number): Promise<TextResult> => {
    const timeout = Math.max(1, started + total - clock.now());
    const opened = connectionOf(services, { settings: saved, timeout, firstByte: timeLeft, idle, signal });
    const connection = limitTexts(
      sendImages({ ...opened, onReasoning: attempts.onReasoning, onEvent: attempts.onEvent }, apart),
    );
    return attempts.attempt(request, connection).catch((error: unknown) => {
      if (unformatted === null || !refusesFormat(error)) throw error;
      unformatted.note();
      return attempts.attempt(unformatted.request, connection);
    });
  };
  const result = await withRetries(attempt, {
    services,
    provider: provider.id,
    deadline: started + firstByte,
    signal,
    canRetry: () => !attempts.hasBegun(),
  }).catch((thrown: unknown) => {
    const error = asProviderError(thrown);
    throw error === null ? thrown : providerFailure(error, provider, firstByte);
  });
  const used = await completeUsage(result, { countPrompt, written: writtenBy(result) }, services.host);
  return {
    content: result.content,
    usage: used.usage,
    ...(used.tokenDetails && { tokenDetails: used.tokenDetails }),
    ...(provider.text.reportsCost === true && { reportedCost: used.reportedCost }),
    providerId: provider.id,
    provider: provider.label,
    model: result.model,
    ignored: [...result.ignored, ...ignoredHints],
    usageEstimated: used.isEstimated,
    ...(result.toolCalls !== undefined && { toolCalls: result.toolCalls }),
    ...(result.finish !== undefined && { finish: result.finish }),
    ...(result.refusal !== undefined && { refusal: result.refusal }),
    ...(result.reasoning !== undefined && { reasoning: result.reasoning }),
    ...(result.native !== undefined && { native: result.native }),
    ...(result.annotations !== undefined && { annotations: result.annotations }),
  };
}

/** All that a model wrote, calls of functions included. */
function writtenBy({ content, toolCalls = [], refusal = '' }: TextResult): string {
  return content + refusal + (toolCalls.length === 0 ? '' : JSON.stringify(toolCalls));
}
