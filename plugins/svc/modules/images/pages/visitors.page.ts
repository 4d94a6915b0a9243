import type { AdminPageBody, AdminRequest } from '#plugin-api';
import type { ServiceContext } from '../../../wiring.ts';
import { fieldErrorsOf, type FieldErrors } from '../../../kit/field-errors.ts';
import { fieldRow, inputName, type Draft, type FieldSpec } from '../../../admin-ui/setting-field.ts';
import { visitorImagesOf } from '../public/visitors-of.ts';
import { visitorSchema } from '../public/visitor-settings.ts';
import type { SettingSchema } from '../../../kit/settings-schema/fields.ts';
import { providerChoices } from './model-fields.ts';

const template = 'svc/images-visitors';

type Spec = Pick<FieldSpec, 'path' | 'type'> & Partial<FieldSpec>;

const groups: readonly { readonly title: string; readonly fields: readonly Spec[] }[] = [
  {
    title: 'What is drawn',
    fields: [
      { path: 'enabled', type: 'switch' },
      { path: 'models', type: 'lines', mono: true, rows: 4 },
      { path: 'sizes', type: 'lines', mono: true, rows: 4 },
      { path: 'most', type: 'number', min: 1, max: 4, short: true },
    ],
  },
  {
    title: 'How much',
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

/** What visitors may have drawn by [svc_images]. Off until it is switched on. */
export function visitorsPage(context: ServiceContext): AdminPageBody {
  const { settings } = visitorImagesOf(context);
  return {
    render: async () => ({ template, data: await view(context, { ...(await settings.get()) }) }),
    actions: {
      save: async (request) => {
        const typed = readTyped(request);
        try {
          const { enabled } = await settings.update(typed);
          return {
            notice: {
              kind: 'success',
              text: enabled
                ? 'Saved. Write [svc_images] into a page to offer it there.'
                : 'Saved. Visitors have nothing drawn while it is off.',
            },
          };
        } catch (error) {
          const errors = fieldErrorsOf(error);
          if (errors === null) throw error;
          return {
            notice: { kind: 'error', text: 'Nothing was saved: look at the marked fields.' },
            page: { template, data: await view(context, typed, errors) },
          };
        }
      },
    },
  };
}

async function view(context: ServiceContext, draft: Draft, errors: FieldErrors = {}): Promise<Record<string, unknown>> {
  const providers = await providerChoices(context, 'generate');
  const known = providers.flatMap(({ value, usual, isReady }) =>
    isReady && usual !== '' ? [`${value}:${usual}`] : [],
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

/** The form as settings: what cannot be read stays as it was typed, for the check to name. */
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
