import type { Images } from '../images.ts';
import { formatMoney, formSections, readForm, withFieldErrors, withNotice } from '#plugin-api';
import type { AdminPageBody, AdminRequest, Choice, FieldErrors, FormField, FormSection } from '#plugin-api';
import { imageParamSchemas } from '../../../kit/image-params.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { visitorSchema } from '../public/visitor-settings.ts';
import { modelFields, providerChoices } from './job-form.ts';

const template = 'svc/images-visitors';

const sections: readonly FormSection[] = [
  {
    id: 'visitors-0',
    title: 'Models and sizes',
    groups: [{ fields: ['enabled', 'models'] }, { fields: ['sizes'] }, { fields: ['most'] }],
  },
  { id: 'visitors-1', title: 'Limits', groups: [{ fields: ['guest_per_day', 'user_per_day'] }] },
  { id: 'visitors-2', title: 'Rules', groups: [{ fields: ['consent', 'banned_words'] }] },
  { id: 'visitors-3', title: 'Texts', groups: [{ fields: ['disclose', 'texts'] }] },
];

/** The settings of `[svc_images]`. Off by default. */
export function createPage(parts: Images): AdminPageBody {
  const { visitorSettings } = parts;
  return {
    render: async () => ({ template, data: await view(parts, { ...(await visitorSettings.get()) }) }),
    actions: {
      save: async (request) => {
        const typed = readSettings(request);
        return withFieldErrors(
          async () => {
            const { enabled } = await visitorSettings.update(typed);
            return withNotice(
              'success',
              enabled
                ? 'Settings saved. Add [svc_images] to a page to offer it there.'
                : 'Settings saved. Images for visitors are off.',
            );
          },
          async (errors) => ({ template, data: await view(parts, typed, errors) }),
        );
      },
    },
  };
}

/** The posted settings. The default is stored as the first of its list, if it is selected. */
function readSettings(request: AdminRequest): Record<string, unknown> {
  const typed = readForm(visitorSchema, request.form);
  const list = (name: string): string[] => (Array.isArray(typed[name]) ? (typed[name] as string[]) : []);
  const startingWith = (first: string, names: readonly string[]): string[] =>
    names.includes(first) ? [...new Set([first, ...names])] : [...new Set(names)];
  const another = readText(request, 'another_model').trim();
  return {
    ...typed,
    models: startingWith(readText(request, 'default_model'), [...list('models'), ...(another === '' ? [] : [another])]),
    sizes: startingWith(readText(request, 'default_size'), list('sizes')),
  };
}

async function view(parts: Images, draft: object, errors: FieldErrors = {}): Promise<Record<string, unknown>> {
  const stored = draft as { readonly enabled?: unknown; readonly models?: unknown; readonly sizes?: unknown };
  const { offered, known } = await listModels(parts);
  const models = withStored(stored.models, offered);
  const sizes = withStored(
    stored.sizes,
    imageParamSchemas.size.examples.map((size) => ({ value: size, label: size.replace('x', ' × ') })),
  );
  const [first, ...others] = formSections(visitorSchema, sections, {
    values: draft,
    errors,
    id: 'bot',
    hints: {
      models: { choices: models, help: 'Visitors choose among them. A single one is used without a choice.' },
      sizes: { choices: sizes, help: 'In pixels. Select none to use the default of the model.' },
    },
  });
  const added: readonly (readonly FormField[])[] = [
    [defaultField('model', stored.models, models), anotherModel],
    [defaultField('size', stored.sizes, sizes)],
  ];
  return {
    sections: [
      {
        ...first,
        groups: first?.groups.map((group, at) => ({ ...group, fields: [...group.fields, ...(added[at] ?? [])] })),
      },
      ...others,
    ],
    isOn: stored.enabled === true,
    known,
  };
}

/** At most so many models of a provider are offered as checkboxes. */
const maxOffered = 12;

/** The models of ready providers that can generate images: the first ones to select from, and all for the field below. */
async function listModels(
  parts: Images,
): Promise<{ readonly offered: readonly Choice[]; readonly known: readonly string[] }> {
  const ready = (await providerChoices(parts, 'generate')).filter(({ isReady }) => isReady);
  const named = ready.map(({ value, label, defaultModel, models }) => ({
    value,
    label,
    models: [...new Set([defaultModel, ...models])].filter((model) => model !== ''),
  }));
  return {
    offered: await Promise.all(
      named.flatMap(({ value, label, models }) =>
        models.slice(0, maxOffered).map(async (model) => {
          const { price } = await modelFields(parts, { provider: value, model, size: '', quality: '' });
          const cost = price === null || price === 0 ? '' : ` (about ${formatMoney(price)} per image)`;
          return { value: `${value}:${model}`, label: `${label}: ${model}${cost}` };
        }),
      ),
    ),
    known: named.flatMap(({ value, models }) => models.map((model) => `${value}:${model}`)),
  };
}

/** The stored ones in their order, then the others. */
function withStored(stored: unknown, offered: readonly Choice[]): readonly Choice[] {
  const names = Array.isArray(stored) ? stored.map(String) : [];
  return [
    ...names.map((name) => offered.find(({ value }) => value === name) ?? { value: name, label: name }),
    ...offered.filter(({ value }) => !names.includes(value)),
  ];
}

function defaultField(part: 'model' | 'size', stored: unknown, options: readonly Choice[]): FormField {
  return {
    path: `default_${part}`,
    type: 'select',
    id: `default-${part}`,
    name: `default_${part}`,
    label: part === 'model' ? 'Default model' : 'Default size',
    value: Array.isArray(stored) ? stored[0] : '',
    options: [{ value: '', label: 'The first one selected above' }, ...options],
  };
}

/** For models that the provider does not list. */
const anotherModel: FormField = {
  path: 'another_model',
  type: 'text',
  id: 'another-model',
  name: 'another_model',
  label: 'Add another model',
  placeholder: 'openai:gpt-image-1',
  list: 'visitor-models',
  autocomplete: 'off',
  mono: true,
  help: 'A provider and a model. Leave empty if the model is in the list above.',
};
