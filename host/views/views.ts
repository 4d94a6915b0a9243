import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { errorText, inLanguage, isInsideFolder, type Language, type Undo, type ViewsApi } from '#plugin-api';
import { createHelpers, type Helper, type ViewAddresses } from './helpers.ts';
import { inspectTemplate } from './inspect-template.ts';
import { SafeHtml } from './safe-html.ts';
import { join } from 'node:path';

interface TemplateFile {
  readonly path: string;
  /** Another one after each change, also by a copy that keeps the time of modification. */
  readonly version: string;
}

/** Finds templates: in the site's folders first, then in the folder of the plugin named by the first part. */
interface TemplateFiles {
  /** @throws Error that names the folders searched. */
  find(template: string): TemplateFile;
  /** Adds the folder of a plugin's own templates; later ones of a slug are searched first. */
  addSource(slug: string, directory: string): Undo;
}

const namePattern = /^[a-z0-9][\w-]*(\/[\w-]+)+$/i;

function createTemplateFiles(directories: readonly string[]): TemplateFiles {
  const sources: { readonly slug: string; readonly directory: string }[] = [];
  return {
    find(template) {
      if (!namePattern.test(template)) {
        throw new Error(
          `'${template}' is not a template name. Use <slug>/<name> without extension, for example svc/settings.`,
        );
      }
      const [slug = '', ...rest] = template.split('/');
      const own = sources
        .filter((source) => source.slug === slug)
        .map((source) => ({ path: join(source.directory, `${rest.join('/')}.hbs`), directory: source.directory }))
        .filter(({ path, directory }) => !existsSync(path) || isInsideFolder(path, directory))
        .map(({ path }) => path);
      const candidates = [...directories.map((directory) => join(directory, `${template}.hbs`)), ...own];
      for (const path of candidates) {
        const version = versionOf(path);
        if (version !== null) return { path, version };
      }
      throw new Error(`Template '${template}' not found. Searched: ${candidates.join(', ')}`);
    },
    addSource(slug, directory) {
      const source = { slug, directory };
      sources.unshift(source);
      return () => {
        const index = sources.indexOf(source);
        if (index >= 0) sources.splice(index, 1);
      };
    },
  };
}

/** Synchronous: a tenth of the processor time that a promise and a thread take. */
function versionOf(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? `${found.ctimeMs} ${found.mtimeMs} ${found.size}` : null;
  } catch {
    return null;
  }
}

export interface ViewsDependencies {
  /** The site's template folders, absolute, searched in order before a plugin's own. */
  readonly directories: readonly string[];
  /** IANA name, read for each rendering. Default UTC. */
  readonly timezone?: () => Promise<string>;
  /** The language to render in. Default: English. */
  readonly language?: () => Language | undefined;
  readonly addresses?: Partial<ViewAddresses>;
  /**
   * Check on each rendering whether a file changed or an override was added (about 20 microseconds per template). Default
   * true.
   */
  readonly reload?: boolean;
}

export interface Views extends ViewsApi {
  /** @param frame values that every template and partial sees as `@name`, for example `@nonce`. */
  render(
    template: string,
    data?: Readonly<Record<string, unknown>>,
    frame?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
  /** Adds the folder of a plugin's own templates, searched after the site's. */
  addSource(slug: string, directory: string): Undo;
}

interface Compiled extends TemplateFile {
  readonly partials: ReadonlySet<string>;
  readonly run: HandlebarsTemplateDelegate;
}

type HandlebarsInstance = typeof Handlebars;

/**
 * Handlebars, escaped by default, without access to prototypes. Templates are compiled once; with `reload`, changed
 * files are compiled again. Handlebars loads on first use, so that a worker without pages never loads it.
 */
export function createViews(dependencies: ViewsDependencies): Views {
  const files = createTemplateFiles(dependencies.directories);
  const helpers = new Map<string, Helper>(
    Object.entries(createHelpers({ ...defaultAddresses, ...dependencies.addresses })).map(([name, helper]) => [
      name,
      synchronous(name, helper),
    ]),
  );
  const reload = dependencies.reload ?? true;
  let compiled: CompiledTemplates = new WeakMap();

  const loadIn =
    (language: Language | undefined) =>
    async (template: string): Promise<Compiled> => {
      const byName = mapOf(compiled, language ?? english);
      const known = byName.get(template);
      if (known && !reload) return known;
      const file = files.find(template);
      if (known?.path === file.path && known.version === file.version) return known;
      const loaded = await loadTemplate({ template, file, language });
      byName.set(template, loaded);
      return loaded;
    };

  return {
    async render(template, data = {}, frame = {}) {
      const partials = new Map<string, HandlebarsTemplateDelegate>();
      const language = dependencies.language?.();
      const load = loadIn(language);
      const main = await load(template);
      await collectPartials({ of: main, into: partials, load });
      const timezone = (await dependencies.timezone?.()) ?? 'UTC';
      const { tag: lang = 'en', direction = 'ltr' } = language ?? {};
      return inLanguage(language, () =>
        main.run(data, {
          data: { timezone, lang, direction, owner: slugOf(template), ...frame },
          helpers: Object.fromEntries(helpers),
          partials: Object.fromEntries(partials),
          allowProtoPropertiesByDefault: false,
          allowProtoMethodsByDefault: false,
        }),
      );
    },
    addSource(slug, directory) {
      const undo = files.addSource(slug, directory);
      compiled = new WeakMap();
      return () => {
        undo();
        compiled = new WeakMap();
      };
    },
    addHelper(name, helper) {
      if (helpers.has(name)) throw new Error(`The view helper '${name}' already exists; choose another name.`);
      const added = synchronous(name, helper);
      helpers.set(name, added);
      return () => {
        if (helpers.get(name) === added) helpers.delete(name);
      };
    },
    safe: (html) => new SafeHtml(html),
  };
}

const defaultAddresses: ViewAddresses = {
  asset: (slug, file) => `/assets/${slug}/${file}`,
  admin: (slug) => `/admin/${slug}`,
  scriptTexts: () => ({ slug: '', texts: [] }),
};

let engine: Promise<HandlebarsInstance> | undefined;

/** By language, then by name or path. A language is another object when its catalogs change. */
type CompiledTemplates = WeakMap<object, Map<string, Compiled>>;

const english = {};

/** By path. Compiling takes a hundred times as long as rendering does, so that all hosts of a process share what they compile. */
const templates: CompiledTemplates = new WeakMap();

function mapOf(maps: CompiledTemplates, key: object): Map<string, Compiled> {
  const known = maps.get(key);
  if (known) return known;
  const created = new Map<string, Compiled>();
  maps.set(key, created);
  return created;
}

interface TemplateSource {
  readonly template: string;
  readonly file: TemplateFile;
  readonly language: Language | undefined;
}

async function loadTemplate({ template, file, language }: TemplateSource): Promise<Compiled> {
  const byPath = mapOf(templates, language ?? english);
  const known = byPath.get(file.path);
  if (known?.version === file.version) return known;
  const handlebars = await (engine ??= loadEngine());
  const translate = language && (await translatorOf(language, slugOf(template)));
  const source = await readFile(file.path, 'utf8');
  const loaded = { ...file, ...compile({ handlebars, template, source, translate }) };
  byPath.set(file.path, loaded);
  return loaded;
}

async function translatorOf(language: Language, slug: string): Promise<(program: hbs.AST.Program) => void> {
  const { translateTemplate } = await import('./translate-template.ts');
  return (program) => translateTemplate(program, (text) => language.find(text, slug));
}

function slugOf(template: string): string {
  return template.split('/', 1)[0] ?? '';
}

async function loadEngine(): Promise<HandlebarsInstance> {
  const handlebars = (await import('handlebars')).default.create();
  handlebars.unregisterHelper('log');
  return handlebars;
}

function synchronous(name: string, helper: Helper): Helper {
  return (...args) => {
    const result = helper(...args);
    if (result instanceof Promise)
      throw new Error(`The view helper '${name}' returned a promise; load the value before rendering.`);
    return result;
  };
}

function compile({
  handlebars,
  template,
  source,
  translate,
}: {
  handlebars: HandlebarsInstance;
  template: string;
  source: string;
  translate: ((program: hbs.AST.Program) => void) | undefined;
}): Pick<Compiled, 'run' | 'partials'> {
  try {
    const program = handlebars.parse(source.replace(/<script(?=\s)/g, '<script{{scriptNonce}}'));
    const { partials } = inspectTemplate(program);
    translate?.(program);
    // Indenting partials would change the text inside textarea and pre.
    return { partials, run: handlebars.compile(program, { preventIndent: true }) };
  } catch (error) {
    throw new Error(`The template '${template}' cannot be read: ${errorText(error)}`, { cause: error });
  }
}

interface Collecting {
  readonly of: Compiled;
  readonly into: Map<string, HandlebarsTemplateDelegate>;
  readonly load: (template: string) => Promise<Compiled>;
}

async function collectPartials({ of, into, load }: Collecting): Promise<void> {
  for (const name of of.partials) {
    if (into.has(name)) continue;
    const partial = await load(name);
    into.set(name, partial.run);
    await collectPartials({ of: partial, into, load });
  }
}
