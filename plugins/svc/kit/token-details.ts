/** Kinds of input tokens that providers bill at prices of their own (D32). */
export const inputTokenKinds = ['cached_input', 'cache_write', 'cache_write_1h', 'image_input', 'audio_input'] as const;

/** Kinds of output tokens that providers bill at prices of their own (D32). */
export const outputTokenKinds = ['reasoning', 'image_output', 'audio_output'] as const;

export const tokenKinds = [...inputTokenKinds, ...outputTokenKinds] as const;

export type TokenKind = (typeof tokenKinds)[number];

/** How many of a call's input and output tokens are of a kind; the rest is plain text. A missing kind is 0. */
export type TokenDetails = Readonly<Partial<Record<TokenKind, number>>>;

/**
 * Without the kinds that are 0 or were not reported; undefined if none is left. Kinds never add up to more than all input or
 * output, whatever was reported.
 */
export function tokenDetails(
  usage: { readonly input_tokens: number; readonly output_tokens: number } | null,
  counts: Readonly<Partial<Record<TokenKind, number | null>>>,
): TokenDetails | undefined {
  const details: Partial<Record<TokenKind, number>> = {};
  const sides = [
    [inputTokenKinds, usage?.input_tokens ?? 0],
    [outputTokenKinds, usage?.output_tokens ?? 0],
  ] as const;
  for (const [kinds, all] of sides) {
    let rest = all;
    for (const kind of kinds) {
      const count = Math.min(rest, counts[kind] ?? 0);
      if (count > 0) details[kind] = count;
      rest -= Math.max(0, count);
    }
  }
  return Object.keys(details).length === 0 ? undefined : details;
}
