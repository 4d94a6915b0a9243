import { fieldError, formFields, formSections, linkErrors, readForm, sectionPaths } from '#plugin-api';
import type { FormField, FormSection, ShownSection, FieldErrors } from '#plugin-api';
import { assistantHints, limitRows, readLimits } from '../../../admin-ui/assistant-fields.ts';
import type { FormState, LimitRow } from '../../../admin-ui/assistant-fields.ts';
import type { AiForms } from '../ai-forms.ts';
import { offeredModels } from '../../../admin-ui/model-choices.ts';
import type { AiForm, FormSettings } from '../forms/form.ts';
import { formMarkup, formView } from '../public/markup.ts';
import { formSchema } from '../forms/form-schema.ts';
import { draftOfElement, elementTypeChoices, elementsOf, type ElementDraft } from './element-draft.ts';
import { statusBadge } from '../../../admin-ui/record-actions.ts';
import { embedLabel, snippets, submissionsSlug } from './form-pages.ts';

const sections: readonly FormSection[] = [
  {
    id: 'model',
    title: 'Model',
    groups: [{ fields: ['provider', 'model'] }, { title: 'Parameters', fields: ['parameters'] }],
  },
  {
    id: 'knowledge',
    title: 'Knowledge',
    help: 'The passages of a knowledge base that best match the prompt are added to the request.',
    groups: [
      { wide: true, fields: ['knowledge.enabled', 'knowledge.base'] },
      {
        title: 'Vector store, instead of a knowledge base',
        fields: ['store', 'target', 'namespace', 'embedding_provider', 'embedding_model'].map(
          (name) => `knowledge.${name}`,
        ),
      },
      { title: 'Passages', fields: ['knowledge.top_k', 'knowledge.min_score', 'knowledge.show_sources'] },
    ],
  },
  {
    id: 'answer',
    title: 'Texts and response',
    groups: [{ fields: ['texts'] }, { title: 'Visitors may', fields: ['result'] }],
  },
  {
    id: 'limits',
    title: 'Limits',
    help: 'Responses per visitor, in the site’s time zone. Weeks start on Monday. Enter 0 for no limit. Failures do not count.',
    groups: [{ wide: true, fields: ['limits.message'] }],
  },
  { id: 'privacy', title: 'Consent and privacy', groups: [{ wide: true, fields: ['consent', 'privacy'] }] },
  {
    id: 'embed',
    title: 'Embed',
    help: 'Show the form on this site or on other sites.',
    groups: [{ wide: true, fields: ['embed'] }],
  },
];

const formPaths = ['name', 'status', 'intro'] as const;
const promptPaths = ['prompt', 'instructions', 'output'] as const;

/** The posted settings without the elements. */
export function readDraft(form: Readonly<Record<string, unknown>>): FormState['draft'] {
  const settings = readForm(formSchema, form, { paths: [...formPaths, ...promptPaths, ...sectionPaths(sections)] });
  const limits = settings['limits'] as object | undefined;
  return limits === undefined ? settings : { ...settings, limits: { ...limits, ...readLimits(formSchema, form) } };
}

/** Entered values with their errors. */
export interface EnteredForm {
  readonly draft: FormState['draft'];
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
  const [hints, models] = await Promise.all([assistantHints(parts, draft), offeredModels(parts)]);
  const init = { values: draft, errors, id: 'bot', hints };
  const aboutFields = formFields(formSchema, { ...init, paths: formPaths });
  const promptFields = formFields(formSchema, { ...init, paths: promptPaths });
  const shown = formSections(formSchema, sections, init);
  const limits = limitRows(formSchema, state);
  const fields = [
    ...aboutFields,
    ...promptFields,
    ...shown.flatMap(({ groups }) => groups.flatMap((group) => group.fields)),
    ...limits.flatMap((row) => row.fields),
  ];
  return {
    id: form.id,
    title: form.name,
    badge: statusBadge(form.status),
    embed: embedLabel(form.embed),
    submissionsHref: `${host.admin.url(submissionsSlug)}?form=${String(form.id)}`,
    submissions: form.submissions,
    formFields: aboutFields,
    promptFields,
    placeholders: elementsOf(elements.filter(({ id, label }) => id !== '' || label !== '')).map(({ id, label }) => ({
      text: `{${id}}`,
      label,
    })),
    elements: elements.map((element, at) => elementRow(element, { at, last: elements.length - 1, errors })),
    elementsError: errors['elements'] === undefined ? undefined : errors['elements'].replace(/^elements/, 'Fields'),
    kinds: elementTypeChoices,
    sections: shown.map((section) => sectionOf(section, limits)),
    // The notice shows a single error.
    errorList: Object.keys(errors).length > 1 ? errorList(fields, errors) : null,
    models,
    snippets: snippets(host, form.id),
    preview: await previewOf(parts, form, { draft, elements }),
  };
}

function sectionOf({ id, errors, ...section }: ShownSection, rows: readonly LimitRow[]): Record<string, unknown> {
  const limits = id === 'limits' ? rows : [];
  const isBad = errors > 0 || limits.some(({ fields }) => fields.some(({ error }) => error !== undefined));
  return {
    ...section,
    id: `section-${id}`,
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
  const error = (name: string, label: string): string | undefined => fieldError(errors, `${path}.${name}`, label);
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
function errorList(
  fields: readonly FormField[],
  errors: FieldErrors,
): { readonly sentence: string; readonly href: string }[] {
  return linkErrors(errors, fields).map(({ path, sentence, href }) => {
    const [, at, name = 'label'] = /^elements\[(\d+)\](?:\.(\w+))?/.exec(path) ?? [];
    if (at === undefined) return { sentence, href: href === '' ? '#bot-name' : href };
    const text = sayDuplicate(fieldError({ [path]: sentence }, path, name) ?? '');
    return { sentence: `Field ${String(Number(at) + 1)}: ${text}`, href: `#element-${at}-${name}` };
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
  const { name, intro } = merged;
  const typed = {
    ...{ name, intro, elements: shown },
    texts: { ...form.texts, ...merged.texts },
    consent: { ...form.consent, ...merged.consent },
  };
  const view = formView({ ...form, ...typed }, host);
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
