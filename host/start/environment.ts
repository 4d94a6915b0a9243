import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { errorText, isUrl } from '#plugin-api';
import { proxyVariables, secretVariables, variables } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The file beside the site's folders that may hold variables. */
export const envFileName = '.env';

/** Bytes of a file that a variable names: a mounted secret is small, and a wrong path may lead to anything. */
const maximumBytes = 65_536;

/** Lists every invalid environment variable, one sentence per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Puts the variables of `.env`, if there is one, into the process's environment, where the SDKs of stores read theirs too.
 * What is set already, be it empty, stays.
 *
 * @param root the folder that relative paths start from.
 * @throws ConfigError when the file cannot be read.
 */
export function loadEnvFile(root = process.cwd()): void {
  for (const [name, value] of Object.entries(readEnvFile(root))) process.env[name] ??= value;
}

/** @returns the variables of `.env`; none when there is no such file. @throws ConfigError when it cannot be read. */
function readEnvFile(root: string): Environment {
  const file = join(root, envFileName);
  if (!existsSync(file)) return {};
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${errorText(error)}`, { cause: error });
  }
}

/**
 * The environment with the contents of the files that `{name}_FILE` of secret variables name, without the line break at
 * their end: where an orchestrator mounts secrets as files, none of them is seen in a list of processes.
 *
 * @param errors gets a sentence for each file that cannot be used.
 */
export function readSecretFiles(env: Environment, errors: string[]): Environment {
  const found: Record<string, string | undefined> = { ...env };
  for (const name of secretVariables) {
    const file = env[fileVariable(name)]?.trim();
    if (!file) continue;
    if (env[name]?.trim()) errors.push(`${name} and ${fileVariable(name)} are both set; use one of them.`);
    else found[name] = readSecretFile(fileVariable(name), file, errors);
  }
  return found;
}

function readSecretFile(name: string, file: string, errors: string[]): string | undefined {
  try {
    const content = readFileSync(file);
    const text = content.toString('utf8').replace(/\r?\n$/, '');
    if (content.length <= maximumBytes && text.trim() !== '' && !/[\0\r\n]/.test(text)) return text;
    errors.push(`${name} is '${file}', which does not hold one line of text; write the secret alone into it.`);
  } catch (error) {
    errors.push(`${name} is '${file}', which cannot be read: ${errorText(error)}`);
  }
  return undefined;
}

const fileVariable = (name: string): string => `${name}_FILE`;

export interface VariableInForce {
  readonly name: string;
  /** `[set]` for a secret, server and name for the database; null: the default applies. */
  readonly value: string | null;
  /** Where the value comes from: `default`, `environment`, `.env`, or the path of a file. */
  readonly source: string;
}

/** What each variable of the host is set to, and by what. Secrets are masked. */
export function describeEnvironment(env: Environment = process.env, root = process.cwd()): VariableInForce[] {
  const inFile = readEnvFile(root);
  return variables.map((name) => {
    const [value, file] = [variableIn(env, name)?.trim(), env[fileVariable(name)]?.trim()];
    if (secretVariables.has(name) && file) return { name, value: '[set]', source: file };
    if (!value) return { name, value: null, source: 'default' };
    const source = variableIn(inFile, name)?.trim() === value ? envFileName : 'environment';
    return { name, value: secretVariables.has(name) || hasPassword(value) ? mask(value) : value, source };
  });
}

/** The value of a variable; those of proxies may be written in lower case. */
export function variableIn(env: Environment, name: string): string | undefined {
  return env[name] ?? ((proxyVariables as readonly string[]).includes(name) ? env[name.toLowerCase()] : undefined);
}

/** Whether a value is the address of a proxy with a user's name. */
function hasPassword(value: string): boolean {
  return isUrl(value) && new URL(value).username !== '';
}

/** Of a secret, only the server and the name of a database are shown. */
function mask(value: string): string {
  if (!isUrl(value)) return '[set]';
  const { protocol, host, pathname } = new URL(value);
  return `${protocol}//${host}${pathname}`;
}

export interface MisspelledVariable {
  readonly name: string;
  /** The variable that was probably meant. */
  readonly meant: string;
}

/**
 * Names in the environment that look like a variable of the host with a spelling mistake, which would be ignored in silence. Most
 * environments have none that begins like one of ours and is as long, so that nothing is compared.
 */
export async function findMisspelled(env: Environment = process.env): Promise<MisspelledVariable[]> {
  const known = new Map(variables.flatMap(namesOf).map((name) => [lettersOf(name), name]));
  const found: MisspelledVariable[] = [];
  for (const name of Object.keys(env)) {
    const letters = lettersOf(name);
    if (!env[name]?.trim() || known.get(letters) === name || isLowerCased(name)) continue;
    const meant = known.get(letters) ?? known.get(letters.replace(/^SVC/, '')) ?? (await closestTo(letters, known));
    if (meant !== undefined) found.push({ name, meant });
  }
  return found;
}

const isLowerCased = (name: string): boolean => proxyVariables.some((each) => each.toLowerCase() === name);

async function closestTo(letters: string, known: ReadonlyMap<string, string>): Promise<string | undefined> {
  const similar = [...known].filter(
    ([each]) =>
      each.length >= minimumLetters &&
      Math.abs(each.length - letters.length) <= mostChanges &&
      each.slice(0, 2) === letters.slice(0, 2),
  );
  if (similar.length === 0) return undefined;
  const { diffChars } = await import('diff');
  const changes = (each: string): number =>
    diffChars(each, letters).reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
  return similar.find(([each]) => changes(each) <= mostChanges)?.[1];
}

/** Letters that may be added or removed. */
const mostChanges = 2;

/** @returns a sentence for each. */
export const describeMisspelled = (found: readonly MisspelledVariable[]): string[] =>
  found.map(({ name, meant }) => `${name} is not a variable of this host; ${meant} is.`);

/** Letters of a name that is compared by its spelling: short ones resemble too many others. */
const minimumLetters = 7;

const namesOf = (name: string): string[] => (secretVariables.has(name) ? [name, fileVariable(name)] : [name]);

const lettersOf = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
