import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  endSentence,
  errorText,
  findHtmlParts,
  inRequest,
  RestError,
  type CliCommand,
  type JsonSchema,
} from '#plugin-api';
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
  const { code, status } = Object(error) as { readonly code?: unknown; readonly status?: unknown };
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

/** Runs each command with arguments and flags that its schemas accept, in an empty working folder. One of its runs must succeed. */
export async function tryCommands({ host, beforeCommands }: Subject): Promise<string | undefined> {
  const own = (await host.commands()).filter(({ name }) => !beforeCommands.includes(name));
  if (own.length === 0) return 'The plugin has no commands.';
  const [folder, former] = [await mkdtemp(join(tmpdir(), 'svc-commands-')), process.cwd()];
  const refusals: string[] = [];
  process.chdir(folder);
  try {
    for (const command of own) {
      const errors = await errorsOf(command);
      const mistake = errors.find(isMistake);
      if (mistake !== undefined) throw new Error(`The command '${command.name}' failed: ${errorText(mistake)}`);
      const [refusal] = errors;
      if (refusal === undefined || errors.includes(null)) continue;
      const sentence = `The command '${command.name}' failed whenever it ran: ${endSentence(errorText(refusal))}`;
      // Without arguments, nothing that was given can be wrong.
      if ((command.args ?? []).length === 0 && !isRefused(refusal))
        throw new Error(`${sentence} If the site lacks something, throw a RestError that says so.`);
      refusals.push(sentence);
    }
  } finally {
    process.chdir(former);
    await rm(folder, { recursive: true, force: true });
  }
  return refusals.length === 0 ? undefined : refusals.join(' ');
}

/** Of each call of the command, its error or null. */
async function errorsOf(command: CliCommand): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const { args, flags } of callsOf(command)) {
    const running = inRequest({ door: 'cli' }, () => failureOf(() => command.run({ args, flags })));
    errors.push(await Promise.race([running, clock.sleep(commandLimit).then(() => null)]));
  }
  return errors;
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

/** Begins an element, or after a quote another attribute of one. */
const mark = '<svc-mark svc-mark=1>';
/** Attributes to try besides those that the shortcode reads. */
const attributes = ['id', 'name', 'title', 'text', 'label', 'url', 'size', 'count', 'limit', 'class'];

/** Renders each shortcode without and with attributes, also with those that it reads. Errors are logged, and so fail the point. */
export async function tryShortcodes({ host, beforeShortcodes }: Subject): Promise<string | undefined> {
  const own = host.shortcodes().filter((tag) => !beforeShortcodes.includes(tag));
  if (own.length === 0) return 'The plugin has no shortcodes.';
  for (const tag of own) {
    const names = [...new Set([...attributes, ...(await attributesOf(host, tag))])];
    const render = (given: readonly string[], value: string): Promise<string> =>
      host.content.doShortcode(`[${tag} ${given.map((name) => `${name}=${value}`).join(' ')}]`);
    for (const value of ['""', '"1"', '"-1"', `"${'x'.repeat(2_000)}"`, '"__proto__"']) await render(names, value);
    await render([], '');
    // One by one too: with a wrong id it may show nothing else.
    for (const given of [names, ...names.map((name) => [name])])
      for (const value of [`"'${mark}"`, `'"${mark}'`])
        if (await hasMark(await render(given, value)))
          throw new Error(
            `The shortcode '${tag}' shows an attribute without escaping it. Use escapeHtml of #plugin-api.`,
          );
  }
  return undefined;
}

async function hasMark(html: string): Promise<boolean> {
  const names = new Set([...html.matchAll(/<([a-z][^\s/>]*)/gi)].map(([, name = '']) => name.toLowerCase()));
  for (const name of names) {
    const parts = await findHtmlParts(html, name);
    if (parts.some(({ attributes: given }) => name === 'svc-mark' || Object.hasOwn(given, 'svc-mark'))) return true;
  }
  return false;
}

/** Names of the attributes that the shortcode reads: its prototype is asked for those that it does not have. */
async function attributesOf({ content, hooks }: Subject['host'], tag: string): Promise<readonly string[]> {
  const read = new Set<string | symbol>();
  const asked = new Proxy(
    {},
    {
      get(_target, name) {
        read.add(name);
      },
      has(_target, name) {
        read.add(name);
        return false;
      },
    },
  );
  const undo = hooks.addFilter('pre_do_shortcode_tag', (output, name, given) => {
    if (name === tag) Object.setPrototypeOf(given, asked);
    return output;
  });
  const { shortcodeAttributes } = content;
  content.shortcodeAttributes = (defaults, given) => {
    Object.keys(defaults).forEach((name) => read.add(name));
    return shortcodeAttributes(defaults, given);
  };
  try {
    await content.doShortcode(`[${tag}]`);
  } finally {
    undo();
    content.shortcodeAttributes = shortcodeAttributes;
  }
  return [...read].filter((name) => typeof name === 'string').filter((name) => /^[a-z][a-z0-9_-]*$/.test(name));
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
