import type { AiForms } from '../ai-forms.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import {
  errorAt,
  fieldRow,
  inputId,
  valueAt,
  type Draft,
  type FieldRow,
  readNumber,
  type FieldSpec,
} from '../../../admin-ui/setting-field.ts';
import type { AiForm, FormSettings } from '../forms/form.ts';
import { formMarkup } from '../public/markup.ts';
import { allFields, editorSpecs, type EditorSpecs, type Section } from './edit-sections.ts';
import { draftOfElement, elementTypeChoices, elementsOf, type ElementDraft } from './element-draft.ts';
import { embedLabel, formsSlug, snippets, statusBadge, submissionsSlug } from './form-pages.ts';

/** Roles of the site. Other roles with limits are shown too. */
const siteRoles = ['subscriber', 'contributor', 'author', 'editor', 'administrator'];
const periods = [
  { value: 'day', label: 'per day' },
  { value: 'week', label: 'per week' },
  { value: 'month', label: 'per month' },
];

/** One row for guests, one for users, and one per role. */
function limitRows(state: {
  readonly draft: Draft;
  readonly errors: FieldErrors;
}): { readonly title: string; readonly fields: readonly FieldRow[] }[] {
  const saved = valueAt(state.draft, 'limits.roles');
  const roles = [...new Set([...siteRoles, ...Object.keys(typeof saved === 'object' && saved !== null ? saved : {})])];
  const lines = [
    ['limits.guest', 'Guests'],
    ['limits.user', 'Signed-in users'],
    ...roles.map((role) => [`limits.roles.${role}`, `Role: ${role.replace(/^./, (letter) => letter.toUpperCase())}`]),
  ];
  return lines.map(([path = '', title = '']) => ({
    title,
    fields: fieldsOf(path, title).map((spec) => fieldRow(spec, state)),
  }));
}

function fieldsOf(path: string, who: string): readonly FieldSpec[] {
  return [
    { path: `${path}.amount`, type: 'number', label: `${who}: responses`, min: 0 },
    { path: `${path}.per`, type: 'select', label: `${who}: period`, options: periods },
  ];
}

/** Reads the limits. An empty amount means no limit, and for a role no separate limit. */
export function readLimits(form: Draft): Record<string, unknown> {
  const roles = valueAt(form, 'limits.roles');
  const names = Object.keys(typeof roles === 'object' && roles !== null ? roles : {});
  const amount = (path: string): string => String(valueAt(form, `${path}.amount`) ?? '').trim();
  const limitOf = (path: string): Record<string, unknown> => ({
    amount: readNumber(amount(path)) ?? 0,
    per: valueAt(form, `${path}.per`) ?? 'day',
  });
  return {
    guest: limitOf('limits.guest'),
    user: limitOf('limits.user'),
    roles: Object.fromEntries(
      names
        .filter((role) => amount(`limits.roles.${role}`) !== '')
        .map((role) => [role, limitOf(`limits.roles.${role}`)]),
    ),
    message: String(valueAt(form, 'limits.message') ?? '').replaceAll('\r\n', '\n'),
  };
}

/** Entered values with their errors. */
export interface EnteredForm {
  readonly draft: Draft;
  readonly elements: readonly ElementDraft[];
  readonly errors?: FieldErrors;
}

/** Sections that are open by default. */
const openByDefault = ['model'];

/** The data of `svc/ai-form-edit`. */
export async function editView(parts: AiForms, form: AiForm, entered?: EnteredForm): Promise<Record<string, unknown>> {
  const { host } = parts;
  const {
    draft,
    elements,
    errors = {},
  } = entered ?? { draft: { ...form }, elements: form.elements.map(draftOfElement) };
  const state = { draft, errors };
  const [specs, models] = await Promise.all([editorSpecs(parts), offeredModels(parts)]);
  const rows = (fields: EditorSpecs['form']): FieldRow[] => fields.map((spec) => listed(fieldRow(spec, state), draft));
  return {
    id: form.id,
    title: form.name,
    badge: statusBadge(form.status),
    embed: embedLabel(form.embed),
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
    kinds: elementTypeChoices,
    sections: specs.sections.map((section) => sectionOf(section, { rows, state })),
    // The notice shows a single error.
    errorList: Object.keys(errors).length > 1 ? errorList(specs, errors) : null,
    models,
    snippets: snippets(host, form.id),
    preview: await previewOf(parts, form, { draft, elements }),
  };
}

/** The offered model names depend on the provider. */
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
    open: isBad || openByDefault.includes(id),
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
    kinds: elementTypeChoices,
    first: at === 0,
    last: at === last,
    rows: Math.min(8, Math.max(3, element.options.split('\n').length)),
    labelError: error('label', 'Label'),
    idError: error('id', 'Id')?.replace(/is the same as that of .*/, 'is already used by another field.'),
    typeError: error('type', 'Type'),
    helpError: error('help', 'Help text'),
    placeholderError: error('placeholder', 'Placeholder'),
    minError: error('min', 'Minimum'),
    maxError: error('max', 'Maximum'),
    optionsError: error('options', 'Options')?.replace(
      /^(Line \d+)\b.*is the same as that of .*$/,
      '$1 has the same value as another line.',
    ),
    up: `up:${String(at)}`,
    down: `down:${String(at)}`,
    remove: `remove:${String(at)}`,
  };
}

const sayDuplicate = (sentence: string): string =>
  sentence.replace(/is the same as that of .*/, 'is already used by another field.');

/** Every error, with a link to its field. */
function errorList(specs: EditorSpecs, errors: FieldErrors): { readonly sentence: string; readonly href: string }[] {
  const fields = allFields(specs);
  return Object.keys(errors).map((path) => {
    const field = fields.find((spec) => path === spec.path || path.startsWith(`${spec.path}[`));
    const [, at, name = 'label'] = /^elements\[(\d+)\](?:\.(\w+))?/.exec(path) ?? [];
    if (at !== undefined)
      return {
        sentence: `Field ${String(Number(at) + 1)}: ${sayDuplicate(errorAt(errors, { path, label: name }) ?? '')}`,
        href: `#element-${at}-${name}`,
      };
    return {
      sentence: field ? (errorAt(errors, field) ?? '') : (errors[path] ?? ''),
      href: `#${inputId(path.startsWith('limits.') ? path : (field?.path ?? 'name'))}`,
    };
  });
}

/** The form with the entered values. Submissions use the saved form. */
async function previewOf(
  parts: AiForms,
  form: AiForm,
  { draft, elements }: Pick<EnteredForm, 'draft' | 'elements'>,
): Promise<Record<string, unknown>> {
  const { host } = parts;
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
  const isBlocked = form.status !== 'active' || !form.embed.enabled;
  return {
    ...formMarkup(host, view, { nonce: await parts.visitors.nonce(form.id) }),
    note:
      form.status !== 'active'
        ? 'The form is inactive and cannot be submitted here. Set its status to Active and save.'
        : isBlocked
          ? 'Embedding is off, so the form cannot be submitted here. Turn it on under Embed.'
          : '',
  };
}
