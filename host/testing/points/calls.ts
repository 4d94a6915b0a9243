import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorText, inRequest, RestError, type CliCommand, type JsonSchema } from '#plugin-api';
import { hostileValues, validValue } from '../hostile-requests.ts';
import { clock, type Subject } from './subject.ts';

/** Runs each ability as an administrator, with a valid input and with ones in which a member breaks. */
export async function tryAbilities({ host, source: { manifest } }: Subject): Promise<string | undefined> {
  const own = (await host.abilities.list()).filter(({ owner }) => owner === manifest.slug);
  if (own.length === 0) return 'The plugin has no abilities.';
  const { user } = await host.signIn();
  for (const { name, inputSchema } of own)
    for (const input of inputsOf(inputSchema)) {
      const error = await failureOf(() => host.abilities.run(name, input, { user }));
      if (error === null || (error instanceof RestError && error.status < 500) || isRefused(error)) continue;
      const cause = error instanceof Error && error.cause !== undefined ? ` ${errorText(error.cause)}` : '';
      throw new Error(`The ability '${name}' failed with the input ${show(input)}: ${errorText(error)}${cause}`);
    }
  return undefined;
}

/** A RestError of a plugin that cannot import the class, or one that says that another system does not respond. */
function isRefused(error: unknown): boolean {
  const { code, status } = error as { readonly code?: unknown; readonly status?: unknown };
  return typeof code === 'string' && code !== 'ability_failed' && Number(status) !== 500 && Number.isInteger(status);
}

function inputsOf(schema: JsonSchema | null): readonly unknown[] {
  if (schema === null) return [undefined];
  const valid = validValue(schema);
  if (schema.type !== 'object' || typeof valid !== 'object' || valid === null) return [valid, ...hostileValues];
  return [
    valid,
    {},
    ...Object.keys(schema.properties ?? {}).flatMap((name) =>
      hostileValues.map((value) => ({ ...valid, [name]: value })),
    ),
  ];
}

/** Milliseconds of real time that a command gets. One that goes on, such as a watcher, has done nothing wrong. */
const commandLimit = 5_000;

/** Runs each command with arguments and flags that its schemas accept, in an empty working folder. */
export async function tryCommands({ host, beforeCommands }: Subject): Promise<string | undefined> {
  const own = (await host.commands()).filter(({ name }) => !beforeCommands.includes(name));
  if (own.length === 0) return 'The plugin has no commands.';
  const [folder, former] = [await mkdtemp(join(tmpdir(), 'svc-commands-')), process.cwd()];
  process.chdir(folder);
  try {
    for (const command of own)
      for (const { args, flags } of callsOf(command)) {
        const running = inRequest({ door: 'cli' }, () => failureOf(() => command.run({ args, flags })));
        const error = await Promise.race([running, clock.sleep(commandLimit).then(() => null)]);
        if (isMistake(error)) throw new Error(`The command '${command.name}' failed: ${errorText(error)}`);
      }
  } finally {
    process.chdir(former);
    await rm(folder, { recursive: true, force: true });
  }
  return undefined;
}

/** An error of the program, not a sentence for the operator. Those of Node and of requests have a code or a cause. */
function isMistake(error: unknown): boolean {
  const isProgram = [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind);
  return isProgram && !('code' in (error as Error)) && (error as Error).cause === undefined;
}

function callsOf({ args = [], flags = {} }: CliCommand) {
  const given = args.filter(({ optional }) => !optional).map(() => '1');
  const defaults = Object.entries(flags).flatMap(([name, schema]) =>
    schema.default === undefined ? [] : [[name, schema.default]],
  );
  const all = Object.entries(flags).map(([name, schema]) => [name, schema.default ?? validValue(schema)]);
  return [
    { args: given, flags: Object.fromEntries(defaults) as Record<string, unknown> },
    { args: args.map(() => '1'), flags: Object.fromEntries(all) as Record<string, unknown> },
  ];
}

const mark = '<svc-mark>';
const attributes = ['id', 'name', 'title', 'text', 'label', 'url', 'size', 'count', 'limit', 'class'];

/** Renders each shortcode without and with attributes. Errors are logged, and so fail the point. */
export async function tryShortcodes({ host, beforeShortcodes }: Subject): Promise<string | undefined> {
  const own = host.shortcodes().filter((tag) => !beforeShortcodes.includes(tag));
  if (own.length === 0) return 'The plugin has no shortcodes.';
  for (const tag of own) {
    for (const value of ['', '1', '-1', 'x'.repeat(2_000), '__proto__'])
      await host.content.doShortcode(`[${tag} ${attributes.map((name) => `${name}="${value}"`).join(' ')}]`);
    await host.content.doShortcode(`[${tag}]`);
    const html = await host.content.doShortcode(`[${tag} ${attributes.map((name) => `${name}="${mark}"`).join(' ')}]`);
    if (html.includes(mark))
      throw new Error(`The shortcode '${tag}' shows an attribute without escaping it. Use escapeHtml of #plugin-api.`);
  }
  return undefined;
}

async function failureOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error;
  }
}

function show(input: unknown): string {
  return (JSON.stringify(input) ?? 'nothing').slice(0, 200);
}
