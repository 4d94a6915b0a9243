import {
  currentRequest,
  inRequest,
  RestError,
  restError,
  type AbilitiesApi,
  type AbilityCall,
  type HooksApi,
  type JsonSchema,
  type Logger,
} from '#plugin-api';
import type { AbilityFailure, RegisteredAbility } from './abilities.ts';

/** Validates and coerces values as arguments of routes are. */
export interface ValueSchema {
  /** The first error, or null. @param name name of the value in the message. */
  findError(value: unknown, schema: JsonSchema, name: string): { readonly message: string } | null;
  sanitize(value: unknown, schema: JsonSchema, name: string): unknown;
}

/** An ability with a checked input, for a caller who may run it. */
export interface PreparedRun {
  /** @throws RestError of the ability, or 500 `ability_invalid_output` or `ability_failed`. */
  execute(): Promise<unknown>;
}

export interface RunAbility {
  /** As the plugin with this slug; undefined: as the host. */
  runAs(plugin: string | undefined): AbilitiesApi['run'];
  /** Checks input and permission. @throws RestError as `run` does. */
  prepare(ability: RegisteredAbility, input: unknown, call: AbilityCall): Promise<PreparedRun>;
}

export interface RunAbilityDependencies {
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
  readonly log: Logger;
  readonly schema: ValueSchema;
  readonly find: (name: string) => Promise<RegisteredAbility | null>;
  readonly onFailure: (failure: AbilityFailure) => void;
}

export function abilityNotFound(): RestError {
  return restError(404, 'rest_ability_not_found', 'Ability not found.');
}

export function createRunAbility({ hooks, log, schema, find, onFailure }: RunAbilityDependencies): RunAbility {
  const fail = ({ name, owner }: RegisteredAbility, error: unknown): void => {
    log.error('Ability failed', { event: 'ability_failed', ability: name, plugin: owner, error });
    onFailure({ name, owner, error });
  };

  const execute = async (ability: RegisteredAbility, input: unknown, call: AbilityCall): Promise<unknown> => {
    const { name, outputSchema } = ability;
    await hooks.doActionAsync('wp_before_execute_ability', name, input);
    let output: unknown;
    try {
      output = (await inAbility(name, () => ability.execute(input as never, call))) ?? null;
    } catch (error) {
      output = error instanceof Error || isRestErrorLike(error) ? error : new Error(String(error));
    }
    if (isRestErrorLike(output)) throw output;
    if (output instanceof Error) {
      if (!call.signal.aborted) fail(ability, output);
      throw abilityFailed(name, output);
    }
    const found = outputSchema === null ? null : schema.findError(output, outputSchema, 'output');
    if (found !== null) {
      const invalid = invalidOutput(name, found.message);
      fail(ability, invalid);
      throw invalid;
    }
    await hooks.doActionAsync('wp_after_execute_ability', name, input, output);
    if (ability.meta.annotations.readonly !== true)
      await hooks.doActionAsync('security_event', {
        event: 'ability_run',
        userId: call.user.id,
        details: { ability: name },
      });
    return output;
  };

  const prepare: RunAbility['prepare'] = async (ability, given, call) => {
    const input = readInput(schema, ability, given);
    await permit(ability, input, call).catch((error: unknown) => {
      if (isRestErrorLike(error)) throw error;
      fail(ability, error);
      throw abilityFailed(ability.name, error);
    });
    return { execute: () => execute(ability, input, call) };
  };

  return {
    prepare,
    runAs: (plugin) => async (name, input, call) => {
      const { signal = new AbortController().signal } = call;
      const ability = await find(name);
      if (ability === null) throw abilityNotFound();
      return (await prepare(ability, input, { ...call, signal, plugin })).execute();
    },
  };
}

function inAbility<Result>(ability: string, work: () => Result): Result {
  return inRequest({ door: 'job', ...currentRequest(), ability }, work);
}

/** The input with the types of the schema. @throws RestError 400 */
function readInput(schema: ValueSchema, { name, inputSchema }: RegisteredAbility, given: unknown): unknown {
  if (inputSchema === null) {
    if (given === null || given === undefined) return undefined;
    throw restError(
      400,
      'ability_missing_input_schema',
      `Ability "${name}" does not define an input schema required to validate the provided input.`,
    );
  }
  const input: unknown = given ?? structuredClone(inputSchema.default) ?? null;
  const found = schema.findError(input, inputSchema, 'input');
  if (found === null) return schema.sanitize(input, inputSchema, 'input');
  throw restError(400, 'ability_invalid_input', `Ability "${name}" has invalid input. Reason: ${found.message}`);
}

/** @throws RestError 401 for visitors, 403 for users. */
async function permit(ability: RegisteredAbility, input: unknown, call: AbilityCall): Promise<void> {
  const result = await Promise.resolve()
    .then(() => ability.permission(input as never, call))
    .catch((error: unknown) => {
      if (isRestErrorLike(error)) return error;
      throw error;
    });
  if (result === true) return;
  const status = call.user.id === 0 ? 401 : 403;
  if (isRestErrorLike(result)) {
    const { code, message, data } = result;
    throw new RestError({ code, message, status, ...(data !== undefined && { data }) });
  }
  throw restError(status, 'rest_ability_cannot_execute', 'Sorry, you are not allowed to execute this ability.');
}

/** A RestError, or an error of a plugin that cannot import the class. */
function isRestErrorLike(value: unknown): value is RestError {
  const { code, status, message } = (value ?? {}) as { code?: unknown; status?: unknown; message?: unknown };
  return value instanceof Error && typeof code === 'string' && Number.isInteger(status) && typeof message === 'string';
}

function abilityFailed(name: string, cause: unknown): RestError {
  return new RestError({
    code: 'ability_failed',
    message: `The ability "${name}" failed. The log of the site shows the cause.`,
    status: 500,
    cause,
  });
}

function invalidOutput(name: string, reason: string): RestError {
  return restError(500, 'ability_invalid_output', `Ability "${name}" has invalid output. Reason: ${reason}`);
}
