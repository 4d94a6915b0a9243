import type { ProviderConnection } from '../providers/provider.ts';
import { unreadableResponse } from '../providers/provider-errors.ts';
import { isEventStream } from '../providers/streams/read-events.ts';

/** Bytes of a whole text with its JSON: five times what the model with the longest answers writes. */
const largestText = 16 * 1_048_576;

/** By the `fetch` that they limit: clients of vendors are built once for each. */
const limited = new WeakMap<typeof globalThis.fetch, typeof globalThis.fetch>();

/**
 * A connection for texts. Of a response that is read as a whole, at most 16 MB are: it would be parsed, filtered and written again
 * in one go each (D46). Events of a stream come apart, and each has a limit there.
 */
export function limitTexts(connection: ProviderConnection): ProviderConnection {
  const fetch = limited.get(connection.fetch) ?? limit(connection.fetch);
  limited.set(connection.fetch, fetch);
  return { ...connection, fetch };
}

function limit(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, headers, status } = response;
    if (body === null || isEventStream(response) || isShort(headers)) return response;
    let left = largestText;
    const counted = body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          left -= bytes.byteLength;
          if (left < 0) controller.error(unreadableResponse('it is longer than 16 MB', status));
          else controller.enqueue(bytes);
        },
      }),
    );
    return new Response(counted, response);
  };
}

/** The length of a compressed body is that of what it was compressed to. */
function isShort(headers: Headers): boolean {
  return headers.get('content-encoding') === null && Number(headers.get('content-length') ?? Infinity) <= largestText;
}
