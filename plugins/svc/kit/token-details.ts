/** Kinds of input tokens that providers bill at prices of their own (D32). */
export const inputTokenKinds = ['cached_input', 'cache_write', 'cache_write_1h', 'image_input', 'audio_input'] as const;

/** Kinds of output tokens that providers bill at prices of their own (D32). */
export const outputTokenKinds = ['reasoning', 'image_output', 'audio_output'] as const;

export const tokenKinds = [...inputTokenKinds, ...outputTokenKinds] as const;

export type TokenKind = (typeof tokenKinds)[number];

/** How many of a call's input and output tokens are of a kind; the rest is plain text. A missing kind is 0. */
export type TokenDetails = Readonly<Partial<Record<TokenKind, number>>>;

/** Without the kinds that are 0 or were not reported; undefined if none is left. */
export function tokenDetails(counts: Readonly<Partial<Record<TokenKind, number | null>>>): TokenDetails | undefined {
  const reported = Object.entries(counts).filter(([, count]) => count !== null && count > 0);
  return reported.length === 0 ? undefined : (Object.fromEntries(reported) as TokenDetails);
}
