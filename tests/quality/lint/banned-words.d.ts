export interface BannedWord {
  /** What to say in its place. */
  readonly say: string;
  readonly name?: RegExp;
  readonly text?: RegExp;
  readonly except?: RegExp;
}
export const bannedWords: readonly BannedWord[];
export function wordsOf(identifier: string): string;
export function inName(identifier: string, path?: string): BannedWord[];
export function inText(text: string, path?: string): (BannedWord & { readonly found: string })[];
