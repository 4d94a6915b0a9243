import type { Clock, DatabaseApi } from '#plugin-api';
import { fillDefaults } from '../../../kit/settings-schema/fill.ts';
import type { AiForm, FormSettings } from './form.ts';
import { formSchema } from './form-schema.ts';
import { formTables } from './form-tables.ts';

interface Row {
  readonly id: number;
  readonly settings: string;
  readonly submissions: number | string;
  readonly created_at: number | string;
  readonly updated_at: number | string;
}

/** The rows of forms, as forms. Each takes part in the transaction it is called in. */
export interface FormRows {
  /** `lock`: nobody else changes it before the running transaction ends. */
  find(id: number, lock?: boolean): Promise<AiForm | null>;
  list(): Promise<readonly AiForm[]>;
  insert(settings: FormSettings): Promise<AiForm>;
  replace(before: AiForm, settings: FormSettings): Promise<AiForm>;
  remove(id: number): Promise<boolean>;
  countSubmission(id: number): Promise<number>;
}

/** PostgreSQL's ids have 32 bits; a larger one is no form's on either dialect. */
const largestId = 2_147_483_647;

export function createFormRows({ database, clock }: { readonly database: Pick<DatabaseApi, 'knex' | 'dialect'>; readonly clock: Clock }): FormRows {
  const table = () => database.knex<Row>(formTables.forms);
  const read = createReader();
  return {
    async find(id, lock = false) {
      if (!Number.isInteger(id) || id < 1 || id > largestId) return null;
      const query = table().where({ id }).first();
      const row = await (lock && database.dialect === 'postgresql' ? query.forUpdate() : query);
      return row === undefined ? null : read(row);
    },
    list: async () => (await table().orderBy('id')).map((row) => read(row as Row)),
    async insert(settings) {
      const now = clock.now();
      const [row] = await table().insert({ settings: JSON.stringify(settings), submissions: 0, created_at: now, updated_at: now }).returning('id');
      return { ...settings, id: Number(row?.id), submissions: 0, created_at: now, updated_at: now };
    },
    async replace(before, settings) {
      const now = clock.now();
      await table().where({ id: before.id }).update({ settings: JSON.stringify(settings), updated_at: now });
      return { ...before, ...settings, updated_at: now };
    },
    remove: async (id) => (await table().where({ id }).delete()) > 0,
    async countSubmission(id) {
      const [row] = (await table().where({ id }).update({ submissions: database.knex.raw('submissions + 1') as never }).returning('submissions')) as { submissions: number | string }[];
      return Number(row?.submissions ?? 0);
    },
  };
}

/** Rows are read once for each text they hold; what an older version stored gets the defaults of what it did not know. */
function createReader(): (row: Row) => AiForm {
  const kept = new Map<number, { readonly text: string; readonly settings: FormSettings }>();
  return ({ id, settings: text, submissions, created_at, updated_at }) => {
    const known = kept.get(id);
    const settings = known?.text === text ? known.settings : (fillDefaults(formSchema, JSON.parse(text), 'drop') as FormSettings);
    if (kept.size >= 1_000) kept.clear();
    kept.set(id, { text, settings });
    return { ...settings, id: Number(id), submissions: Number(submissions), created_at: Number(created_at), updated_at: Number(updated_at) };
  };
}
