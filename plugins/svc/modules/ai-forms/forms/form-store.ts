import type { HostApi } from '#plugin-api';
import { defineTransfer } from '../../../kit/read-transfer.ts';
import { createAssistantRows, settingsOf } from '../../../kit/assistants/assistant-rows.ts';
import { createAssistantStore, type FirstModel } from '../../../kit/assistants/assistant-store.ts';
import type { KnownNames } from '../../../kit/assistants/known-names.ts';
import { errors } from '../../../kit/errors.ts';
import '../hooks.ts';
import type { FormSettings, FormStore, AiForm } from './form.ts';
import { formErrors } from './form-errors.ts';
import { formSchema } from './form-schema.ts';
import { formTables } from './form-tables.ts';

export interface FormStoreParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks'>;
  readonly known: () => Promise<KnownNames>;
  readonly firstModel: FirstModel;
}

export const formTransfer = defineTransfer<AiForm, FormSettings>(
  { format: 'svc-ai-forms', version: 1, list: 'forms', noun: 'forms', title: 'AI forms' },
  settingsOf,
);

export function createFormStore({ host, known, firstModel }: FormStoreParts): FormStore {
  const { database, hooks } = host;
  const rows = createAssistantRows<FormSettings, 'submissions'>({
    host,
    table: formTables.forms,
    schema: formSchema,
    counters: ['submissions'],
  });
  const store = createAssistantStore({
    database,
    rows,
    schema: formSchema,
    plural: 'forms',
    known,
    // The default model belongs to the default provider.
    withModel: async (given) =>
      Object.hasOwn(given, 'provider') && given['provider'] !== '' ? given : { ...given, ...(await firstModel()) },
    findErrors: formErrors,
    notFound: (id) => errors.ai_form_not_found({ values: { id } }),
    remove: (id) =>
      database.transaction(async () => {
        await database.knex(formTables.submissions).where({ form_id: id }).delete();
        await database.knex(formTables.counters).where({ form_id: id }).delete();
        return rows.remove(id);
      }),
    saved: (form, before) => hooks.doActionAsync('svc_form_saved', form, before),
    deleted: (form) => hooks.doActionAsync('svc_form_deleted', form),
  });
  return { ...store, countSubmission: (id) => rows.count(id, 'submissions') };
}
