import { isRecord } from '#plugin-api';
import { isLimited, requireScopes, type Caller } from './caller.ts';
import { errors } from './errors.ts';
import { namedModels } from './named-models.ts';
import type { TextFormat } from './reasoning.ts';

type Members = Readonly<Record<string, unknown>>;

interface SentScopes {
  readonly format: TextFormat;
  /** Id of the provider that the request goes to. */
  readonly provider: string;
  readonly caller: Caller | undefined;
}

/**
 * Checks what a request that is sent as it came may reach at its vendor besides its own model (D31): the models that its members
 * name must be allowed by the key, and nothing that the vendor stores may choose others or hold the texts of other keys.
 *
 * @throws RestError 403 that names the member or the model
 */
export function requireSentScopes(body: Members, { format, provider, caller }: SentScopes): void {
  if (caller?.kind === 'named-key') refuseStoredText(body, format, caller.name);
  if (caller === undefined || !isLimited(caller)) return;
  const stored = storedChoice[format].find((name) => isGiven(body[name]));
  if (stored !== undefined) throw storedModels(stored, caller.name);
  const models = namedModels(body, format);
  for (const { model, path } of [{ model: String(body['model']), path: 'model' }, ...models])
    if (model.includes('@preset')) throw storedModels(path, caller.name);
  for (const { model } of models) requireScopes(caller, { provider, model });
}

/** Members that name what the vendor stores, with a model and tools in it: presets of OpenRouter, prompts of OpenAI. */
const storedChoice: Readonly<Record<TextFormat, readonly string[]>> = {
  chat: ['preset', 'prompt'],
  messages: ['preset'],
  responses: ['preset', 'prompt'],
};

/** Members that continue what an earlier request stored at the vendor, in the account that all keys share. */
const storedTexts: Readonly<Record<TextFormat, readonly string[]>> = {
  chat: [],
  messages: ['thread'],
  responses: ['previous_response_id', 'conversation'],
};

function refuseStoredText(body: Members, format: TextFormat, key: string): void {
  const param = storedTexts[format].find((name) => isGiven(body[name])) ?? referenceIn(body, format);
  if (param !== undefined) throw errors.key_stored_text({ values: { key, param }, data: { param } });
}

/** An item of the input that is named by its id alone. */
function referenceIn({ input }: Members, format: TextFormat): string | undefined {
  if (format !== 'responses' || !Array.isArray(input)) return undefined;
  const isReference = (item: unknown): boolean =>
    isRecord(item) && (item['type'] === 'item_reference' || (!isGiven(item['type']) && !isGiven(item['role'])));
  const index = input.findIndex(isReference);
  return index < 0 ? undefined : `input[${String(index)}]`;
}

function storedModels(param: string, key: string): Error {
  return errors.key_stored_models({ values: { key, param }, data: { param } });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
