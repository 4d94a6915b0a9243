import { type HostApi, invalidFields, storedJson } from '#plugin-api';
import { contentTableNames } from '../content-tables.ts';
import { builtInTemplates } from './built-in.ts';
import { checkTemplate } from './template-schema.ts';
import { pickSettings, type Template, type TemplateSettings } from './template.ts';
import { defineTransfer } from '../../../kit/read-transfer.ts';

export const templateTransfer = defineTransfer<Template, TemplateSettings>(
  { format: 'svc-content-templates', version: 1, list: 'templates', noun: 'templates' },
  pickSettings,
);

/** Templates: built-in, of plugins, and saved. */
export interface TemplateStore {
  /** Built-in ones first, then by name. */
  list(): Promise<readonly Template[]>;
  /** Finds by id, or by case-insensitive name. */
  find(idOrName: string): Promise<Template | null>;
  /** Validates settings without saving them. @throws RestError 400 `rest_invalid_param` */
  check(given: unknown): Promise<TemplateSettings>;
  create(given: unknown): Promise<Template>;
  /** Replaces the settings; missing members get defaults. Null if the template does not exist or is read-only. */
  replace(id: string, given: unknown): Promise<Template | null>;
  /** Creates all or none. A name that is taken gets a number. */
  createAll(list: readonly unknown[]): Promise<readonly Template[]>;
  /** Returns whether a template was deleted. Built-in ones cannot be deleted. */
  delete(id: string): Promise<boolean>;
}

interface Row {
  readonly id: number;
  readonly settings: string;
}

export interface TemplateStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks'>;
  readonly providers: () => Promise<{ readonly text: readonly string[]; readonly images: readonly string[] }>;
}

const most = 200;
const isNumber = (id: string): boolean => /^[1-9]\d{0,8}$/.test(id);
const nameKey = (name: string): string => name.trim().toLowerCase();

export function createTemplateStore({
  host: { database, clock, hooks },
  providers,
}: TemplateStoreParts): TemplateStore {
  const table = () => database.knex(contentTableNames.templates);
  const fixed = (): readonly Template[] => hooks.applyFilters('svc_content_templates', builtInTemplates);
  const toTemplate = ({ id, settings }: Row): Template => ({
    ...(storedJson(settings) as TemplateSettings),
    id: String(id),
    builtIn: false,
  });

  async function check(given: unknown): Promise<TemplateSettings> {
    const { settings, errors } = checkTemplate(given, await providers());
    if (Object.keys(errors).length > 0) throw invalidFields(errors);
    return { ...pickSettings(settings), name: settings.name.trim() };
  }
  async function takenNames(): Promise<Set<string>> {
    const rows = (await table().select('name_key')) as { readonly name_key: string }[];
    return new Set([...fixed().map(({ name }) => nameKey(name)), ...rows.map(({ name_key: key }) => key)]);
  }
  async function insert(settings: TemplateSettings): Promise<Template> {
    const now = clock.now();
    const [row] = (await table()
      .insert({
        name: settings.name,
        name_key: nameKey(settings.name),
        settings: JSON.stringify(settings),
        created_at: now,
        updated_at: now,
      })
      .onConflict('name_key')
      .ignore()
      .returning('id')) as { readonly id: number }[];
    if (!row) throw nameTaken(settings.name);
    return { ...settings, id: String(row.id), builtIn: false };
  }

  const store: TemplateStore = {
    check,
    async list() {
      const rows = (await table().select('id', 'settings').orderBy('name_key')) as Row[];
      return [...fixed(), ...rows.map(toTemplate)];
    },
    async find(idOrName) {
      const own = isNumber(idOrName)
        ? ((await table()
            .select('id', 'settings')
            .where({ id: Number(idOrName) })
            .first()) as Row | undefined)
        : undefined;
      if (own) return toTemplate(own);
      return (
        (await store.list()).find(({ id, name }) => id === idOrName || nameKey(name) === nameKey(idOrName)) ?? null
      );
    },
    async create(given) {
      const settings = await check(given);
      if ((await takenNames()).has(nameKey(settings.name))) throw nameTaken(settings.name);
      return insert(settings);
    },
    async replace(id, given) {
      if (!isNumber(id)) return null;
      const settings = await check(given);
      if (fixed().some(({ name }) => nameKey(name) === nameKey(settings.name))) throw nameTaken(settings.name);
      if (
        (await table()
          .where({ name_key: nameKey(settings.name) })
          .whereNot({ id: Number(id) })
          .first('id')) !== undefined
      )
        throw nameTaken(settings.name);
      const changed = await table()
        .where({ id: Number(id) })
        .update({
          name: settings.name,
          name_key: nameKey(settings.name),
          settings: JSON.stringify(settings),
          updated_at: clock.now(),
        });
      return changed === 0 ? null : { ...settings, id, builtIn: false };
    },
    async createAll(list) {
      const checked = checkedAll(list, await providers());
      return database.transaction(async () => {
        const taken = await takenNames();
        const made: Template[] = [];
        for (const settings of checked) {
          const name = freeName(settings.name.trim(), taken);
          taken.add(nameKey(name));
          made.push(await insert({ ...pickSettings(settings), name }));
        }
        return made;
      });
    },
    delete: async (id) =>
      isNumber(id) &&
      (await table()
        .where({ id: Number(id) })
        .delete()) > 0,
  };
  return store;
}

/** Validates all. @throws RestError 400 with the errors of all */
function checkedAll(
  list: readonly unknown[],
  known: Awaited<ReturnType<TemplateStoreParts['providers']>>,
): readonly TemplateSettings[] {
  if (list.length === 0 || list.length > most)
    throw invalidFields({ templates: `templates must be a list of 1 to ${String(most)}.` });
  const checked = list.map((one) => checkTemplate(one, known));
  const errors: Record<string, string> = {};
  for (const [at, { errors: own }] of checked.entries())
    for (const [path, sentence] of Object.entries(own))
      errors[`templates[${String(at)}].${path}`] = `templates[${String(at)}]: ${sentence}`;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return checked.map(({ settings }) => settings);
}

function nameTaken(name: string): Error {
  return invalidFields({ name: `name: The name ${name} is taken. Choose another name.` });
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let copy = 2; taken.has(nameKey(free)); copy += 1) free = `${[...name].slice(0, 94).join('')} (${String(copy)})`;
  return free;
}
