import { countAt, objectAt, textAt } from '../json.ts';

interface PartialCall {
  readonly index: number | null;
  readonly id: string | null;
  name: string;
  arguments: string;
}

/** Joins the pieces of streamed tool calls. */
export interface StreamedToolCalls {
  take(piece: unknown): void;
  /** As in a response that is not streamed. */
  all(): readonly { readonly id: string | null; readonly function: Pick<PartialCall, 'name' | 'arguments'> }[];
}

/**
 * A piece belongs to the call with its id, else to the last one with its index. A new id with a name begins a call: Ollama and
 * several gateways give all calls the index 0, and some servers send another id with each piece of a call.
 */
export function createToolCalls(): StreamedToolCalls {
  const calls: PartialCall[] = [];
  const begin = (piece: Pick<PartialCall, 'id' | 'index'>): PartialCall => {
    const call = { ...piece, name: '', arguments: '' };
    calls.push(call);
    return call;
  };
  return {
    take(piece) {
      const called = objectAt(piece, 'function');
      const [id, index, name] = [textAt(piece, 'id'), countAt(piece, 'index'), textAt(called, 'name')];
      const sameId = id === null ? undefined : calls.find((call) => call.id === id);
      const sameIndex = calls.findLast((call) => index === null || call.index === index);
      const isNew = name !== null && (id !== null || index === null);
      const call = sameId ?? (isNew ? undefined : sameIndex) ?? begin({ id, index });
      if (name !== null && name !== call.name) call.name += name;
      const given = called['arguments'];
      if (typeof given === 'string') call.arguments += given;
      else if (given !== undefined && given !== null) call.arguments += JSON.stringify(given);
    },
    all: () => calls.map(({ id, name, arguments: given }) => ({ id, function: { name, arguments: given } })),
  };
}
