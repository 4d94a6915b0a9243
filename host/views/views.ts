import { readFile, stat } from 'node:fs/promises';
import { errorText, type Undo, type ViewsApi } from '#plugin-api';
import { createHelpers, type Helper, type ViewAddresses } from './helpers.ts';
import { inspectTemplate } from './inspect-template.ts';
import { SafeHtml } from './safe-html.ts';
import { join } from 'node:path';

interface TemplateFile {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly changed: number;
}

/** Finds templates: in the site's folders first, then in the folder of the plugin named by the first part. */
interface TemplateFiles {
  /** @throws Error that names the folders searched. */
  find(template: string): Promise<TemplateFile>;
  /** Adds the folder of a plugin's own templates; later ones of a slug are searched first. */
  addSource(slug: string, directory: string): Undo;
}

const namePattern = /^[a-z0-9][\w-]*(\/[\w-]+)+$/i;

function createTemplateFiles(directories: readonly string[]): TemplateFiles {
  const sources: { readonly slug: string; readonly directory: string }[] = [];
  return {
    async find(template) {
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
        const changed = await modified(path);
        if (changed !== null) return { path, changed };
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

async function modified(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.mtimeMs : null;
  } catch {
    return null;
  }
}

export interface ViewsDependencies {
  /** The site's template folders, absolute, searched in order before a plugin's own. */
  readonly directories: readonly string[];
  /** IANA name, read for each rendering. Default UTC. */
  readonly timezone?: () => Promise<string>;
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

interface Compiled {
  readonly path: string;
  readonly changed: number;
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
    Object.entries(createHelpers({ ...defaultAddresses, ...dependencies.addresses })),
  );
  const reload = dependencies.reload ?? true;
  const compiled = new Map<string, Compiled>();
  let engine: Promise<HandlebarsInstance> | undefined;

  const load = async (template: string): Promise<Compiled> => {
    const known = compiled.get(template);
    if (known && !reload) return known;
    const file = await files.find(template);
    if (known?.path === file.path && known.changed === file.changed) return known;
    const handlebars = await (engine ??= loadEngine(helpers));
    const loaded = { ...file, ...compile({ handlebars, template, source: await readFile(file.path, 'utf8') }) };
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
        data: { timezone, ...frame },
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
      helpers.set(name, helper);
      void engine?.then((handlebars) => handlebars.registerHelper(name, synchronous(name, helper)));
      return () => {
        if (helpers.get(name) !== helper) return;
        helpers.delete(name);
        void engine?.then((handlebars) => handlebars.unregisterHelper(name));
      };
    },
    safe: (html) => new SafeHtml(html),
  };
}

const defaultAddresses: ViewAddresses = {
  asset: (slug, file) => `/assets/${slug}/${file}`,
  admin: (slug) => `/admin/${slug}`,
};

async function loadEngine(helpers: ReadonlyMap<string, Helper>): Promise<HandlebarsInstance> {
  const handlebars = (await import('handlebars')).default.create();
  handlebars.unregisterHelper('log');
  for (const [name, helper] of helpers) handlebars.registerHelper(name, synchronous(name, helper));
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
