import type { ServiceContext } from '../../../wiring.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { errorAt, fieldRow, inputId, valueAt, type Draft, type FieldRow } from '../../../admin-ui/setting-field.ts';
import { aiFormsOf } from '../ai-forms.ts';
import type { AiForm, FormSettings } from '../forms/form.ts';
import { formMarkup } from '../public/markup.ts';
import { allFields, editorSpecs, type EditorSpecs, type Section } from './edit-sections.ts';
import { draftOfElement, elementKinds, elementsOf, type ElementDraft } from './element-draft.ts';
import { embedWords, formsSlug, snippets, statusBadge, submissionsSlug } from './form-pages.ts';
import { limitRows } from './limit-rows.ts';

/** What was typed, and what is wrong with it. */
export interface Typed {
  readonly draft: Draft;
  readonly elements: readonly ElementDraft[];
  readonly errors?: FieldErrors;
}

/** Sections that are open without being asked for. */
const firstOpen = ['model'];

/** The data of `svc/ai-form-edit`. */
export async function editView(context: ServiceContext, form: AiForm, typed?: Typed): Promise<Record<string, unknown>> {
  const { host } = context;
  const { draft, elements, errors = {} } = typed ?? { draft: { ...form }, elements: form.elements.map(draftOfElement) };
  const state = { draft, errors };
  const [specs, models] = await Promise.all([editorSpecs(context), offeredModels(context)]);
  const rows = (fields: EditorSpecs['form']): FieldRow[] => fields.map((spec) => listed(fieldRow(spec, state), draft));
  return {
    id: form.id,
    title: form.name,
    badge: statusBadge(form.status),
    embed: embedWords(form.embed),
    listHref: host.admin.url(formsSlug),
    submissionsHref: `${host.admin.url(submissionsSlug)}?form=${String(form.id)}`,
    submissions: form.submissions,
    formFields: rows(specs.form),
    promptFields: rows(specs.prompt),
    placeholders: elementsOf(elements.filter(({ id, label }) => id !== '' || label !== '')).map(({ id, label }) => ({
      text: `{${id}}`,
      label,
    })),
    elements: elements.map((element, at) => elementRow(element, { at, last: elements.length - 1, errors })),
    elementsError: errors['elements'] === undefined ? undefined : errors['elements'].replace(/^elements/, 'Fields'),
    kinds: elementKinds,
    sections: specs.sections.map((section) => sectionOf(section, { rows, state })),
    // A single one stands in the notice.
    errorList: Object.keys(errors).length > 1 ? errorList(specs, errors) : null,
    models,
    snippets: snippets(host, form.id),
    preview: await previewOf(context, form, { draft, elements }),
  };
}

/** The model's names that are offered depend on the provider. */
function listed(row: FieldRow, draft: Draft): FieldRow {
  if (row.path === 'model') return { ...row, list: `models-text-${String(valueAt(draft, 'provider') ?? '')}` };
  return row.path === 'knowledge.embedding_model'
    ? { ...row, list: `models-embedding-${String(valueAt(draft, 'knowledge.embedding_provider') ?? '')}` }
    : row;
}

function sectionOf(
  { id, title, help, groups }: Section,
  {
    rows,
    state,
  }: {
    readonly rows: (fields: EditorSpecs['form']) => FieldRow[];
    readonly state: { readonly draft: Draft; readonly errors: FieldErrors };
  },
): Record<string, unknown> {
  const shown = groups.map((group) => ({ ...group, fields: rows(group.fields) }));
  const limits = id === 'limits' ? limitRows(state) : [];
  const isBad = [...shown.flatMap(({ fields }) => fields), ...limits.flatMap(({ fields }) => fields)].some(
    ({ error }) => error !== undefined,
  );
  return {
    id: `section-${id}`,
    title,
    help,
    groups: shown,
    limits,
    open: isBad || firstOpen.includes(id),
    isEmbed: id === 'embed',
  };
}

function elementRow(
  element: ElementDraft,
  { at, last, errors }: { readonly at: number; readonly last: number; readonly errors: FieldErrors },
): Record<string, unknown> {
  const path = `elements[${String(at)}]`;
  const error = (name: string, label: string): string | undefined =>
    errorAt(errors, { path: `${path}.${name}`, label });
  return {
    ...element,
    at,
    title: element.label || `Field ${String(at + 1)}`,
    kinds: elementKinds,
    first: at === 0,
    last: at === last,
    rows: Math.min(8, Math.max(3, element.options.split('\n').length)),
    labelError: error('label', 'Label'),
    idError: error('id', 'Id')?.replace(/is the same as that of .*/, 'is that of another field.'),
    typeError: error('type', 'Kind'),
    helpError: error('help', 'Help'),
    placeholderError: error('placeholder', 'Hint'),
    minError: error('min', 'Least'),
    maxError: error('max', 'Most'),
    optionsError: error('options', 'Options')?.replace(
      /^(Line \d+).*is the same as that of .*$/,
      '$1 has a value that another line has.',
    ),
    up: `up:${String(at)}`,
    down: `down:${String(at)}`,
    remove: `remove:${String(at)}`,
  };
}

/** Every error once, with the way to its field. */
function errorList(specs: EditorSpecs, errors: FieldErrors): { readonly sentence: string; readonly href: string }[] {
  const fields = allFields(specs);
  return Object.keys(errors).map((path) => {
    const field = fields.find((spec) => path === spec.path || path.startsWith(`${spec.path}[`));
    const [, at, name = 'label'] = /^elements\[(\d+)\](?:\.(\w+))?/.exec(path) ?? [];
    if (at !== undefined)
      return {
        sentence: `Field ${String(Number(at) + 1)}: ${(errorAt(errors, { path, label: name }) ?? '').replace(/is the same as that of .*/, 'is that of another field.')}`,
        href: `#element-${at}-${name}`,
      };
    return {
      sentence: field ? (errorAt(errors, field) ?? '') : (errors[path] ?? ''),
      href: `#${inputId(path.startsWith('limits.') ? path : (field?.path ?? 'name'))}`,
    };
  });
}

/** The form as visitors will see it, of what is typed; it is answered as it was saved last. */
async function previewOf(
  context: ServiceContext,
  form: AiForm,
  { draft, elements }: Pick<Typed, 'draft' | 'elements'>,
): Promise<Record<string, unknown>> {
  const { host } = context;
  const merged = { ...form, ...draft } as FormSettings;
  const shown = elementsOf(elements.filter(({ label }) => label !== ''));
  const view = {
    id: form.id,
    name: merged.name,
    intro: merged.intro,
    elements: shown,
    texts: { ...form.texts, ...merged.texts },
    result: form.result,
    consent: { ...form.consent, ...merged.consent },
  };
  const isSilent = form.status !== 'active' || !form.embed.enabled;
  return {
    ...formMarkup(host, view, { nonce: await aiFormsOf(context).visitors.nonce(form.id) }),
    note:
      form.status !== 'active'
        ? 'It is inactive, so that it answers nobody, not even here. Set its status to active and save.'
        : isSilent
          ? 'It may not be shown, so that it does not answer here either: see “Put it on a page”.'
          : '',
  };
}
