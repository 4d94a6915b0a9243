import { withoutUndefined } from '#plugin-api';
import type { TextExtras } from './tools.ts';

/**
 * Members of OpenAI's requests that do not change the answer, by their names there. A vendor that has no such member gets the
 * request without it, and the response names it in `X-SVC-Ignored-Params` (D33).
 */
export const textHints = [
  'user',
  'messages.name',
  'metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
] as const;

export type TextHint = (typeof textHints)[number];

/** Hints that services with OpenAI's format usually have too. */
const commonHints: readonly string[] = ['user', 'messages.name'];

/** Hints that OpenAI and Azure alone have. */
export function isOpenAiHint(feature: string): boolean {
  return isHint(feature) && !commonHints.includes(feature);
}

export function isHint(feature: string): feature is TextHint {
  return (textHints as readonly string[]).includes(feature);
}

interface HintedRequest extends TextExtras {
  readonly messages: readonly { readonly name?: string | undefined }[];
}

/** The hints with an effect. `store: false` is what a vendor without storage does anyway. */
export function givenHints({ endUser, hints = {}, messages }: HintedRequest): TextHint[] {
  return textHints.filter((hint) => {
    if (hint === 'user') return endUser !== undefined;
    if (hint === 'messages.name') return messages.some(({ name }) => name !== undefined);
    return hints[hint] !== undefined && hints[hint] !== false;
  });
}

/** The request without the hints that its model does not take. */
export function withoutHints<Request extends HintedRequest>(
  request: Request,
  takes: (hint: TextHint) => boolean,
): Request {
  const { endUser, hints, messages } = request;
  const taken = Object.entries(hints ?? {}).filter(([hint]) => takes(hint as TextHint));
  return withoutUndefined({
    ...request,
    hints: taken.length === 0 ? undefined : Object.fromEntries(taken),
    endUser: takes('user') ? endUser : undefined,
    messages: takes('messages.name') ? messages : messages.map(({ name: _name, ...message }) => message),
  }) as Request;
}
