import type { Wire } from './wire.ts';
import { anthropicWire } from './wires/anthropic.wire.ts';
import { azureWire } from './wires/azure.wire.ts';
import { deepSeekWire } from './wires/deepseek.wire.ts';
import { googleWire } from './wires/google.wire.ts';
import { ollamaWire } from './wires/ollama.wire.ts';
import { openAiWire } from './wires/openai.wire.ts';
import { openRouterWire } from './wires/openrouter.wire.ts';
import { xAiWire } from './wires/xai.wire.ts';

/** Every stand-in; the first segment of an address is its id. */
export const wires: readonly Wire[] = [openAiWire, azureWire, googleWire, openRouterWire, anthropicWire, deepSeekWire, xAiWire, ollamaWire];

export function findWire(id: string): Wire | undefined {
  return wires.find((wire) => wire.id === id);
}
