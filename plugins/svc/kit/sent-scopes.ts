import { isLimited, requireScopes, type Caller } from './caller.ts';
import { errors } from './errors.ts';
import { namedModels } from './named-models.ts';
import type { TextFormat } from './reasoning.ts';
import { storedObject } from './stored-objects.ts';

type Members = Readonly<Record<string, unknown>>;

interface SentScopes {
  readonly format: TextFormat;
  /** Id of the provider that the request goes to. */
  readonly provider: string;
  readonly caller: Caller | undefined;
  /** Whether the provider has another format, and what it lacks is left out (D41): then no stored object is reached. */
  readonly isSpared?: boolean;
}

/**
 * Checks what a request that is sent as it came may reach at its vendor besides its own model (D31): the models that its members
 * name must be allowed by the key, and nothing that the vendor stores may choose others or be of other keys.
 *
 * @throws RestError 403 that names the member or the model
 */
export function requireSentScopes(body: Members, { format, provider, caller, isSpared = false }: SentScopes): void {
  if (!isSpared) refuseStored(body, format, caller);
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

/** @throws RestError 403 that names the member by which a named key would reach what the vendor stores */
export function refuseStored(body: Members, format: TextFormat, caller: Caller | undefined): void {
  if (caller?.kind !== 'named-key') return;
  const param = storedObject(body, format);
  if (param !== undefined) throw errors.key_stored_text({ values: { key: caller.name, param }, data: { param } });
}

function storedModels(param: string, key: string): Error {
  return errors.key_stored_models({ values: { key, param }, data: { param } });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
