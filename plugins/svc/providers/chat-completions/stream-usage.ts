import {
  ProviderError,
  type ProviderConnection,
  type ProviderSettings,
  type TextRequest,
  type TextResult,
} from '../provider.ts';

type OnText = (piece: string) => void;

export interface StreamCall {
  readonly onText: OnText;
  /** Members of the body that request the usage; empty if the upstream does not support them. */
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Requests the usage of a stream, which Chat Completions omits by default. If a compatible server refuses, the call is
 * repeated without it, and so are later calls of this process; tokens are then counted here (D25).
 */
export function requestUsage(
  countsStreams: (settings: ProviderSettings) => boolean = () => true,
  stream: (request: TextRequest, connection: ProviderConnection, call: StreamCall) => Promise<TextResult>,
): (request: TextRequest, connection: ProviderConnection, onText: OnText) => Promise<TextResult> {
  const refusing = new Set<unknown>();
  return async (request, connection, onText) => {
    const { settings } = connection;
    if (!countsStreams(settings) || refusing.has(settings.base_url))
      return stream(request, connection, { onText, options: {} });
    try {
      return await stream(request, connection, { onText, options: { stream_options: { include_usage: true } } });
    } catch (error) {
      if (
        !(error instanceof ProviderError) ||
        error.kind !== 'rejected' ||
        !/stream_options|include_usage/.test(error.message)
      )
        throw error;
      refusing.add(settings.base_url);
      return stream(request, connection, { onText, options: {} });
    }
  };
}
