import type { ProviderConnection, TextCapability, TextRequest, TextResult } from '../providers/provider.ts';

export interface TextAttempts {
  /** One attempt. */
  attempt(request: TextRequest, connection: ProviderConnection): Promise<TextResult>;
  /** The text passed to `onText` so far. If it is not empty, the call cannot be retried: the caller would see two beginnings. */
  readonly text: string;
}

/**
 * Attempts at one text. `onText` gets its pieces as they arrive, or one piece at the end from an upstream that cannot
 * stream; all pieces together are the content.
 */
export function createTextAttempts(
  capability: TextCapability,
  onText: ((piece: string) => void) | undefined,
): TextAttempts {
  let text = '';
  if (onText === undefined) return { attempt: (request, connection) => capability.generate(request, connection), text };

  const emit = (piece: string): void => {
    if (piece === '') return;
    text += piece;
    onText(piece);
  };
  return {
    get text() {
      return text;
    },
    async attempt(request, connection) {
      const result = await (capability.stream?.(request, connection, emit) ?? capability.generate(request, connection));
      // The rest of the content, or all of it without a stream.
      if (result.content.startsWith(text)) emit(result.content.slice(text.length));
      return { ...result, content: text };
    },
  };
}
