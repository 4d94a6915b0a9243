import type { Images } from '../images.ts';
import type { AdminPageBody, AdminRequest } from '#plugin-api';
import { fieldErrorsOf, type FieldErrors } from '../../../kit/field-errors.ts';
import { fieldRow, inputName, type Draft, type FieldSpec } from '../../../admin-ui/setting-field.ts';
import { visitorSchema } from '../public/visitor-settings.ts';
import type { SettingSchema } from '../../../kit/settings-schema/fields.ts';
import { providerChoices } from './job-form.ts';

const template = 'svc/images-visitors';

type Spec = Pick<FieldSpec, 'path' | 'type'> & Partial<FieldSpec>;

const groups: readonly { readonly title: string; readonly fields: readonly Spec[] }[] = [
  {
    title: 'Models and sizes',
    fields: [
      { path: 'enabled', type: 'switch' },
      { path: 'models', type: 'lines', mono: true, rows: 4 },
      { path: 'sizes', type: 'lines', mono: true, rows: 4 },
      { path: 'most', type: 'number', min: 1, max: 4, short: true },
    ],
  },
  {
    title: 'Limits',
    fields: [
      { path: 'guest_per_day', type: 'number', min: 0, max: 1000, short: true },
      { path: 'user_per_day', type: 'number', min: 0, max: 1000, short: true },
    ],
  },
  {
    title: 'Rules',
    fields: [
      { path: 'consent.required', type: 'switch' },
      { path: 'consent.text', type: 'textarea', rows: 3 },
      { path: 'banned_words', type: 'lines', rows: 6 },
    ],
  },
  {
    title: 'Texts',
    fields: [
      { path: 'texts.intro', type: 'textarea', rows: 2 },
      { path: 'texts.refused', type: 'text' },
      { path: 'texts.limit', type: 'text' },
    ],
  },
];

/** The settings of `[svc_images]`. Off by default. */
export function visitorsPage(parts: Images): AdminPageBody {
  const { visitorSettings } = parts;
  return {
    render: async () => ({ template, data: await view(parts, { ...(await visitorSettings.get()) }) }),
    actions: {
      save: async (request) => {
        const typed = readTyped(request);
        try {
          const { enabled } = await visitorSettings.update(typed);
          return {
            notice: {
              kind: 'success',
              text: enabled
                ? 'Settings saved. Add [svc_images] to a page to offer it there.'
                : 'Settings saved. Images for visitors are off.',
            },
          };
        } catch (error) {
          const errors = fieldErrorsOf(error);
          if (errors === null) throw error;
          return {
            notice: { kind: 'error', text: 'Nothing was saved. Correct the marked fields.' },
            page: { template, data: await view(parts, typed, errors) },
          };
        }
      },
    },
  };
}

async function view(parts: Images, draft: Draft, errors: FieldErrors = {}): Promise<Record<string, unknown>> {
  const providers = await providerChoices(parts, 'generate');
  const known = providers.flatMap(({ value, defaultModel, isReady }) =>
    isReady && defaultModel !== '' ? [`${value}:${defaultModel}`] : [],
  );
  return {
    groups: groups.map(({ title, fields }, at) => ({
      title,
      id: `visitors-${String(at)}`,
      fields: fields.map((spec) => row(spec, draft, errors)),
    })),
    isOn: draft['enabled'] === true,
    known,
  };
}

function row(spec: Spec, draft: Draft, errors: FieldErrors) {
  const { title = spec.path, description } = schemaAt(spec.path);
  return fieldRow(
    { label: title, ...(description !== undefined && { help: description }), ...spec },
    { draft, errors },
  );
}

function schemaAt(path: string): SettingSchema {
  return path.split('.').reduce<SettingSchema>((schema, name) => schema.properties?.[name] ?? {}, visitorSchema);
}

/** The form as settings. Unreadable values stay as text, so that the check reports them. */
function readTyped({ form }: AdminRequest): Record<string, unknown> {
  const typed: Record<string, unknown> = {};
  for (const { path, type } of groups.flatMap(({ fields }) => fields)) {
    const [head = '', member] = path.split('.');
    const value = valueOf(type, rawOf(form, inputName(path)));
    if (member === undefined) typed[head] = value;
    else typed[head] = { ...(typed[head] as object | undefined), [member]: value };
  }
  return typed;
}

function rawOf(form: AdminRequest['form'], name: string): string {
  const [head = '', member] = name.split(/[[\]]/);
  const value = form[head];
  const found =
    member === undefined
      ? value
      : typeof value === 'object' && value !== null
        ? (value as Record<string, unknown>)[member]
        : undefined;
  return typeof found === 'string' ? found : '';
}

function valueOf(type: FieldSpec['type'], raw: string): unknown {
  if (type === 'switch') return raw === '1';
  if (type === 'lines')
    return raw
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  return type === 'number' && /^-?\d+$/.test(raw.trim()) ? Number(raw) : raw;
}
