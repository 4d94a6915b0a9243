import type { HttpMethod, Params, RouteDefinition } from '#plugin-api';
import { compileArgument } from './argument.ts';
import type { Argument } from './argument.ts';

/** One definition of a route, with values derived from it once. */
export interface Endpoint {
  readonly definition: RouteDefinition;
  readonly methods: readonly HttpMethod[];
  /** Bytes. */
  readonly bodyLimit: number;
  /** Compiled at the first request. */
  readonly args: ReadonlyMap<string, Argument>;
  /** Names of required arguments. */
  readonly required: readonly string[];
  /** Names of arguments with their own check. */
  readonly validated: readonly string[];
  /** A new object of default values, or null when there are none. */
  defaults(): Params | null;
}

export const defaultBodyLimit = 1_048_576;

export function createEndpoint(definition: RouteDefinition): Endpoint {
  let compiled: ReadonlyMap<string, Argument> | undefined;
  const given = Object.entries(definition.args ?? {});
  const preset = given
    .filter(([, { default: value }]) => value !== undefined && value !== null)
    .map(([name, { default: value }]) => [name, value] as const);
  const isShared = preset.every(([, value]) => typeof value !== 'object');
  const defaults = Object.fromEntries(preset);
  return {
    definition,
    methods: definition.methods ?? ['GET'],
    get bodyLimit() {
      return definition.bodyLimit ?? defaultBodyLimit;
    },
    get args() {
      return (compiled ??= new Map(given.map(([name, argument]) => [name, compileArgument(name, argument)])));
    },
    required: given.filter(([, { required }]) => required === true).map(([name]) => name),
    validated: given.filter(([, { validate }]) => validate !== undefined).map(([name]) => name),
    defaults: () => (preset.length === 0 ? null : isShared ? { ...defaults } : structuredClone(defaults)),
  };
}
