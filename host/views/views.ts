import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { errorText, type TranslationsApi, type Undo, type ViewsApi } from '#plugin-api';
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
        .map((source) => join(source.directory, `${rest.join('/')}.hbs`));
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
  /** The texts of a plugin. Default: they are not translated. */
  readonly translations?: (slug: string) => TranslationsApi;
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
  const compiled = new Map<string, Compiled>();

  const load = async (template: string): Promise<Compiled> => {
    const known = compiled.get(template);
    if (known && !reload) return known;
    const file = files.find(template);
    if (known?.path === file.path && known.version === file.version) return known;
    const loaded = await loadTemplate(template, file);
    compiled.set(template, loaded);
    return loaded;
  };

  return {
    async render(template, data = {}, frame = {}) {
      const partials = new Map<string, HandlebarsTemplateDelegate>();
      const main = await load(template);
      await collectPartials({ of: main, into: partials, load });
      const timezone = (await dependencies.timezone?.()) ?? 'UTC';
      return main.run(data, {
        data: { timezone, texts: dependencies.translations?.(template.split('/', 1)[0] ?? ''), ...frame },
        helpers: Object.fromEntries(helpers),
        partials: Object.fromEntries(partials),
        allowProtoPropertiesByDefault: false,
        allowProtoMethodsByDefault: false,
      });
    },
    addSource(slug, directory) {
      const undo = files.addSource(slug, directory);
      compiled.clear();
      return () => {
        undo();
        compiled.clear();
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
};

let engine: Promise<HandlebarsInstance> | undefined;

/** By path. Compiling takes a hundred times as long as rendering does, so that all hosts of a process share what they compile. */
const templates = new Map<string, Compiled>();

async function loadTemplate(template: string, file: TemplateFile): Promise<Compiled> {
  const known = templates.get(file.path);
  if (known?.version === file.version) return known;
  const handlebars = await (engine ??= loadEngine());
  const loaded = { ...file, ...compile({ handlebars, template, source: await readFile(file.path, 'utf8') }) };
  templates.set(file.path, loaded);
  return loaded;
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
}: {
  handlebars: HandlebarsInstance;
  template: string;
  source: string;
}): Pick<Compiled, 'run' | 'partials'> {
  try {
    const program = handlebars.parse(source);
    const { partials } = inspectTemplate(program);
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
