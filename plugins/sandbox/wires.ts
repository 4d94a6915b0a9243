import type { StandIn, StoreWire, Wire } from './wire.ts';
import { anthropicWire } from './wires/anthropic.wire.ts';
import { azureWire } from './wires/azure.wire.ts';
import { deepSeekWire } from './wires/deepseek.wire.ts';
import { imagesStandIn } from './wires/images.stand-in.ts';
import { googleWire } from './wires/google.wire.ts';
import { ollamaWire } from './wires/ollama.wire.ts';
import { openAiWire } from './wires/openai.wire.ts';
import { openRouterWire } from './wires/openrouter.wire.ts';
import { xAiWire } from './wires/xai.wire.ts';
import { chromaWire } from './wires/stores/chroma.wire.ts';
import { pineconeWire } from './wires/stores/pinecone.wire.ts';
import { qdrantWire } from './wires/stores/qdrant.wire.ts';

/** Every stand-in of a provider; the first segment of an address is its id. */
export const wires: readonly Wire[] = [
  openAiWire,
  azureWire,
  googleWire,
  openRouterWire,
  anthropicWire,
  deepSeekWire,
  xAiWire,
  ollamaWire,
];

export function findWire(id: string): Wire | undefined {
  return wires.find((wire) => wire.id === id);
}

/** Every stand-in of a vector store. */
export const storeWires: readonly StoreWire[] = [pineconeWire, qdrantWire, chromaWire];

export function findStoreWire(id: string): StoreWire | undefined {
  return storeWires.find((wire) => wire.id === id);
}

/** Paths that are a store's own although its id is not in front: the clients of these two leave a path of their address out. */
const bare: readonly (readonly [RegExp, StandIn])[] = [
  [/^\/collections(?:\/|$)/, qdrantWire],
  [/^\/api\/v[12](?:\/|$)/, chromaWire],
];

/** The stand-in a path leads to, and the path below its root. */
export function standInAt(path: string): { readonly standIn: StandIn; readonly rest: string } | undefined {
  const [, owner] = bare.find(([pattern]) => pattern.test(path)) ?? [];
  if (owner) return { standIn: owner, rest: path };
  const [, id = '', rest = ''] = /^\/([^/]*)(\/.*)?$/.exec(path) ?? [];
  const standIn = findWire(id) ?? findStoreWire(id) ?? (id === imagesStandIn.id ? imagesStandIn : undefined);
  return standIn && { standIn, rest };
}
