import type { HostApi } from '#plugin-api';
import type { KnownNames } from '../../../ai/answerers/known-names.ts';
import { errors } from '../../../kit/errors.ts';
import { createShapeCheck, type Faults } from '../../../kit/settings-schema/check-shape.ts';
import { fillDefaults, isMembers, mergeChanges } from '../../../kit/settings-schema/fill.ts';
import { invalidFields } from '../../../settings/invalid-fields.ts';
import '../hooks.ts';
import type { AiForm, FormSettings, FormStore } from './form.ts';
import { formFaults } from './form-faults.ts';
import { settingsOf } from './form-record.ts';
import { createFormRows } from './form-rows.ts';
import { formSchema } from './form-schema.ts';
import { formTables } from './form-tables.ts';

const shapeFaults = createShapeCheck(formSchema);

export interface FormStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks'>;
  readonly known: () => Promise<KnownNames>;
  /** What a new form is answered by where it names no provider: the first that is configured. */
  readonly firstModel: () => Promise<{ readonly provider: string; readonly model: string }>;
}

/**
 * The forms, one row each. Nothing is remembered but the reading of a row's text, so that every node sees a change with its
 * next call. Two changes of one form at the same time are made one after the other, neither is lost.
 */
export function createFormStore({ host, known, firstModel }: FormStoreParts): FormStore {
  const { database, hooks } = host;
  const rows = createFormRows(host);

  async function make(list: readonly FormSettings[]): Promise<readonly AiForm[]> {
    const made = await database.transaction(async () => {
      const forms: AiForm[] = [];
      for (const settings of list) forms.push(await rows.insert(settings));
      return forms;
    });
    for (const form of made) await hooks.doActionAsync('svc_form_saved', form, null);
    return made;
  }
  const makeOne = async (settings: FormSettings): Promise<AiForm> => (await make([settings]))[0] as AiForm;
  /** With the defaults; the default model belongs to the default provider. */
  async function complete(given: unknown): Promise<unknown> {
    if (!isMembers(given)) return given;
    const chosen = Object.hasOwn(given, 'provider') && given['provider'] !== '' ? {} : await firstModel();
    return fillDefaults(formSchema, { ...given, ...chosen });
  }
  const check = async (given: unknown): Promise<FormSettings> => checked(await complete(given), await known(), null);

  return {
    get: (id) => rows.find(id),
    list: () => rows.list(),
    check,
    countSubmission: (id) => rows.countSubmission(id),
    create: async (given) => makeOne(await check(given)),
    async createAll(list) {
      const names = await known();
      const settings = await Promise.all(list.map(complete));
      const faults = settings.map((one, at) => below(`forms[${String(at)}]`, allFaults(one, names, null)));
      refuse(Object.assign({}, ...faults) as Faults);
      return make(settings as FormSettings[]);
    },
    async update(id, changes) {
      if (!isMembers(changes)) throw invalidFields({ '': 'The changes are an object of settings.' });
      const names = await known();
      const { before, form } = await database.transaction(async () => {
        const found = await rows.find(id, true);
        if (found === null) throw errors.ai_form_not_found({ values: { id } });
        const settings = settingsOf(found);
        const changed = mergeChanges(formSchema, settings, withModel(changes, settings));
        return { before: found, form: await rows.replace(found, checked(fillDefaults(formSchema, changed), names, settings)) };
      });
      await hooks.doActionAsync('svc_form_saved', form, before);
      return form;
    },
    async duplicate(id) {
      const form = await rows.find(id);
      if (form === null) throw errors.ai_form_not_found({ values: { id } });
      return makeOne({ ...settingsOf(form), name: `${[...form.name].slice(0, 193).join('')} (copy)`, status: 'inactive' });
    },
    async delete(id) {
      const form = await rows.find(id);
      if (form === null) return false;
      const isGone = await removeWhole(host, () => rows.remove(id), id);
      if (isGone) await hooks.doActionAsync('svc_form_deleted', form);
      return isGone;
    },
  };
}

/** A form with all that belongs to it, or nothing of it. */
function removeWhole({ database }: Pick<FormStoreParts['host'], 'database'>, remove: () => Promise<boolean>, id: number): Promise<boolean> {
  return database.transaction(async () => {
    await database.knex(formTables.submissions).where({ form_id: id }).delete();
    await database.knex(formTables.counters).where({ form_id: id }).delete();
    return remove();
  });
}

/** @throws RestError 400 `rest_invalid_param` with a sentence for every bad member, by its path */
function checked(settings: unknown, known: KnownNames, before: FormSettings | null): FormSettings {
  refuse(allFaults(settings, known, before));
  return settings as FormSettings;
}

function refuse(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalidFields(faults);
}

function allFaults(settings: unknown, known: KnownNames, before: FormSettings | null): Faults {
  const shape = shapeFaults(settings);
  return Object.keys(shape).length > 0 ? shape : formFaults(settings as FormSettings, known, before);
}

/** The faults of one of several. A sentence begins with the path it is about. */
function below(place: string, faults: Faults): Faults {
  return Object.fromEntries(Object.entries(faults).map(([path, sentence]) => (path === '' ? [place, `${place}: ${sentence}`] : [`${place}.${path}`, `${place}.${sentence}`])));
}

/** Another provider without a model of its own: the model there was is not that provider's, so it takes the saved one. */
function withModel(changes: Readonly<Record<string, unknown>>, { provider }: FormSettings): Readonly<Record<string, unknown>> {
  const moves = Object.hasOwn(changes, 'provider') && changes['provider'] !== provider;
  return moves && !Object.hasOwn(changes, 'model') ? { ...changes, model: '' } : changes;
}
