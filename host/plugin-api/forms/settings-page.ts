import { isUrl } from '../addresses.ts';
import type { AdminActionResult, AdminPageDeclaration, AdminRequest, AdminView } from '../admin.ts';
import type { HostApi } from '../host-api.ts';
import type { Infer } from '../infer.ts';
import { withNotice } from '../notice.ts';
import type { JsonSchema } from '../schema.ts';
import { asRecord } from '../values.ts';
import { checkValue, type FieldErrors } from './check.ts';
import { fillDefaults } from './sections.ts';
import { fieldError, formFields } from './fields.ts';
import { fieldKind, fieldLabel, inputName, listLeaves, putAt, valueAt, type Leaf } from './paths.ts';
import { readForm } from './read.ts';

export interface SettingsPage<Schema> extends Omit<AdminPageDeclaration, 'uploadLimit'> {
  /** Name of the option, such as `order_helper_settings`. */
  readonly setting: string;
  /** Of an object, written `as const`. What it marks `writeOnly` is stored encrypted and never shown. */
  readonly schema: Schema;
  /** A sentence above the fields. */
  readonly help?: string;
}

/** The settings of a page, with the defaults of the schema. Read them when they are used: an administrator may change them. */
export interface Settings<Schema> {
  read(): Promise<Infer<Schema>>;
}

/**
 * Registers a setting and an admin page with its form, in `register`. A secret stays as it is while its field is empty, unless it is
 * removed, or an address of the form leads to another server: who may change settings must not read secrets by sending them
 * elsewhere. Saving secrets needs a fresh sign-in.
 *
 * @throws Error as `registerSetting` and `addPage` do.
 */
export function addSettingsPage<const Schema extends JsonSchema>(
  host: Pick<HostApi, 'options' | 'admin'>,
  { setting, schema, help, ...page }: SettingsPage<Schema>,
): Settings<Schema> {
  const leaves = listLeaves(schema);
  const secrets = leaves.filter((leaf) => fieldKind(leaf.schema) === 'secret');
  const read = async (): Promise<Record<string, unknown>> =>
    asRecord(fillDefaults(schema, await host.options.get(setting, {})));
  const view = async (values: unknown, errors: FieldErrors = {}): Promise<AdminView> => {
    const stored = await read();
    const shown = structuredClone(asRecord(values));
    for (const { path } of secrets) {
      const secret = valueAt(stored, path);
      const state = typeof secret === 'string' ? { saved: secret !== '', ending: secret.slice(-4) } : { saved: false };
      putAt(shown, path.split('.'), state);
    }
    const fields = formFields(schema, { values: shown, errors, id: page.slug });
    const group = { id: page.slug, title: 'Settings', fields, ...(help !== undefined && { help }) };
    return { template: 'admin/settings-form', data: { groups: [group] } };
  };
  const save = async (request: AdminRequest): Promise<AdminActionResult> => {
    if (secrets.length > 0) request.requireFreshSignIn();
    const stored = await read();
    const { values, errors: lost } = enteredValues({ leaves, secrets, stored }, request, schema);
    const errors = { ...checkValue(schema, values, { subject: 'label' }).errors, ...lost };
    if (Object.keys(errors).length === 0) {
      await host.options.update(setting, values);
      return withNotice('success', 'Settings saved.');
    }
    const named = leaves.flatMap((leaf) => {
      const error = fieldError(errors, leaf.path, fieldLabel(leaf.path, leaf.schema));
      return error === undefined ? [] : [[inputName(leaf.path), error]];
    });
    return withNotice('error', 'Nothing was saved. Correct the marked fields.', {
      ...{ page: await view(values, errors), data: { errors: Object.fromEntries(named) as FieldErrors }, status: 400 },
    });
  };
  host.options.registerSetting(setting, { group: page.slug, label: page.title, schema });
  host.admin.addPage({ ...page, render: async () => view(await read()), actions: { save } });
  return { read: read as Settings<Schema>['read'] };
}

/** What a form has, with the secrets that stay, and errors for those that must be entered again. */
function enteredValues(
  { leaves, secrets, stored }: { leaves: readonly Leaf[]; secrets: readonly Leaf[]; stored: Record<string, unknown> },
  { form }: AdminRequest,
  schema: JsonSchema,
): { readonly values: unknown; readonly errors: FieldErrors } {
  const entered = readForm(schema, form);
  const values = structuredClone(stored);
  for (const { path } of leaves) putAt(values, path.split('.'), valueAt(entered, path));
  const hasMoved = leaves.some(
    (leaf) =>
      fieldKind(leaf.schema) === 'url' && originOf(valueAt(stored, leaf.path)) !== originOf(valueAt(values, leaf.path)),
  );
  const errors: Record<string, string> = {};
  for (const { path, schema: member } of secrets) {
    const isRemoved = [form['_remove']].flat().includes(inputName(path));
    const remaining = isRemoved ? undefined : valueAt(stored, path);
    const given = valueAt(entered, path) || undefined;
    if (hasMoved && remaining && given === undefined)
      errors[path] =
        `Enter '${fieldLabel(path, member)}' again, or remove it: an address of this page leads to another server now.`;
    putAt(values, path.split('.'), given ?? remaining);
  }
  // Without the members that are undefined.
  return { values: JSON.parse(JSON.stringify(values)) as unknown, errors };
}

function originOf(address: unknown): string {
  return typeof address === 'string' && isUrl(address) ? new URL(address).origin : '';
}
