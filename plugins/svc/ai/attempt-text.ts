import type { ProviderConnection, TextCapability, TextRequest, TextResult } from '../providers/provider.ts';

export interface TextAttempts {
  /** One try. */
  attempt(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  /** What was handed on so far. Once there is something no further try may follow: the caller would see two beginnings. */
  readonly text: string;
}

/**
 * Tries of one text. With `onText` its pieces are handed on as they come, from a far end that cannot stream as one piece at
 * the end; all pieces together are the content.
 */
export function createTextAttempts(
  capability: TextCapability,
  onText: ((piece: string) => void) | undefined,
): TextAttempts {
  let text = '';
  if (onText === undefined) return { attempt: (request, connection) => capability.generate(request, connection), text };

  const hand = (piece: string): void => {
    if (piece === '') return;
    text += piece;
    onText(piece);
  };
  return {
    get text() {
      return text;
    },
    async attempt(request, connection) {
      const result = await (capability.stream?.(request, connection, hand) ?? capability.generate(request, connection));
      // What a stream kept back for its end, or all of it.
      if (result.content.startsWith(text)) hand(result.content.slice(text.length));
      return { ...result, content: text };
    },
  };
}
