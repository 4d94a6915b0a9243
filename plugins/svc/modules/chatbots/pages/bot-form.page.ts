import { fieldError, withNotice, withFieldErrors, restError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, AdminView } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import type { Bot } from '../bots/bot.ts';
import type { FormElement, FormElementType } from '../forms/form.ts';
import { toFormDraft, newElement, newForm, readForm, joinSource } from './bot-form-draft.ts';
import type { ElementDraft, FormDraft } from './bot-form-draft.ts';
import { arrangeElements, elementsOfDrafts } from '../../../admin-ui/element-drafts.ts';
import { uniqueId } from '../../../admin-ui/list-edits.ts';
import { findBotInForm, findBotInQuery, saveBotPart } from './bot-request.ts';
import { formsSlug } from './bot-page-slugs.ts';
import { botPartView, botTrail, type TypedPart } from './bot-head.ts';

/** Types of form fields. */
const elementTypes: readonly { readonly value: FormElementType; readonly label: string }[] = [
  { value: 'text', label: 'Single line' },
  { value: 'textarea', label: 'Multiple lines' },
  { value: 'email', label: 'Email address' },
  { value: 'phone', label: 'Phone number' },
  { value: 'number', label: 'Number' },
  { value: 'select', label: 'Dropdown' },
  { value: 'radio', label: 'Single choice' },
  { value: 'checkbox', label: 'Multiple choice' },
  { value: 'consent', label: 'Consent checkbox' },
  { value: 'hidden', label: 'Hidden field' },
];

/** What can fill hidden fields. */
const sources: readonly { readonly value: string; readonly label: string }[] = [
  { value: 'page_url', label: 'Address of the page' },
  { value: 'page_title', label: 'Title of the page' },
  { value: 'query', label: 'Query parameter of the page' },
  { value: 'user_id', label: 'Id of the user' },
  { value: 'user_name', label: 'Name of the user' },
  { value: 'user_email', label: 'Email address of the user' },
];

function formPage(parts: ChatbotParts, bot: Bot, typed: TypedPart<FormDraft>): AdminView {
  const form = bot.forms.find(({ id }) => id === typed.draft.saved);
  return {
    template,
    title: form?.name ?? 'New form',
    trail: botTrail(parts.host, bot, 'forms'),
    data: botFormView(parts, bot, typed),
  };
}

/** The data of `svc/bot-form`. */
function botFormView(
  { host }: ChatbotParts,
  bot: Bot,
  { draft, errors = {} }: TypedPart<FormDraft>,
): Record<string, unknown> {
  const error = (path: string, label: string): string | undefined => fieldError(errors, path, label);
  const { elements, ...texts } = draft;
  return {
    ...botPartView(host, bot, { part: 'forms', errors }),
    isNew: draft.saved === '',
    form: texts,
    nameError: error('name', 'Name'),
    idError:
      errors['id'] === undefined
        ? undefined
        : `Id ${errors['id'].replace(/^\S+ /, '').replace(/^is the same.*/, 'is used by another form.')}`,
    introError: error('intro', 'Text above the fields'),
    submitError: error('submit_label', 'Button label'),
    thanksError: error('thanks', 'Thank-you message'),
    elementsError: errors['elements'] === undefined ? undefined : 'A form needs at least one field.',
    elements: elements.map((element, at) => elementRow(element, { at, last: elements.length - 1, error })),
    types: elementTypes,
  };
}

interface ElementPosition {
  readonly at: number;
  readonly last: number;
  readonly error: (path: string, label: string) => string | undefined;
}

function elementRow(element: ElementDraft, { at, last, error }: ElementPosition): Record<string, unknown> {
  const path = `elements[${String(at)}]`;
  return {
    ...element,
    at,
    number: at + 1,
    title: element.label || `Field ${String(at + 1)}`,
    types: elementTypes,
    sources,
    first: at === 0,
    last: at === last,
    rows: Math.min(8, Math.max(3, element.options.split('\n').length)),
    labelError: error(`${path}.label`, 'Label'),
    idError: error(`${path}.id`, 'Id')?.replace(/is the same as that of .*/, 'is used by another field.'),
    typeError: error(`${path}.type`, 'Type'),
    helpError: error(`${path}.help`, 'Help'),
    placeholderError: error(`${path}.placeholder`, 'Placeholder'),
    optionsError: optionsError(error(`${path}.options`, 'Options')),
    ...sourceErrors(element, error(`${path}.source`, 'Filled with')),
    up: `up:${String(at)}`,
    down: `down:${String(at)}`,
    remove: `remove:${String(at)}`,
  };
}

/** Shows the error at the field that is wrong. */
function sourceErrors(
  { source }: Pick<ElementDraft, 'source'>,
  sentence: string | undefined,
): { readonly sourceError?: string; readonly parameterError?: string } {
  if (sentence === undefined) return {};
  return source === 'query'
    ? { parameterError: 'Enter the name of a query parameter, such as utm_source. Blanks are not allowed.' }
    : { sourceError: sentence };
}

/** Rewrites an error of an option so that it names its line. The usual error is a duplicate value. */
function optionsError(sentence: string | undefined): string | undefined {
  return sentence
    ?.replace(/^(Line \d+)\b.*is the same as that of .*$/, '$1 has a value that another line has.')
    .replace(/^(Line \d+)\.(value|label)/, '$1');
}

const template = 'svc/bot-form';

/** Edits one form: its texts and its fields. `?form=` names it; without it the form is new. */
export function createPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async (request) => {
      const bot = await findBotInQuery(parts, request, 'bot');
      return formPage(parts, bot, { draft: draftOf(bot, request.query['form']) });
    },
    actions: {
      save: (request) => save(parts, request),
      arrange: async (request) => {
        const bot = await findBotInForm(parts, request, 'bot');
        return { page: formPage(parts, bot, { draft: arrange(readForm(request.form, true), request) }) };
      },
    },
  };
}

function draftOf(bot: Bot, id: unknown): FormDraft {
  if (typeof id !== 'string') return newForm();
  const form = bot.forms.find((candidate) => candidate.id === id);
  if (!form) throw restError(404, 'rest_svc_no_form', 'This form does not exist. It may have been deleted.');
  return toFormDraft(form);
}

/** Applies a button beside the fields. Nothing is saved. */
function arrange(draft: FormDraft, request: AdminRequest): FormDraft {
  const create = (type: string): ElementDraft => newElement(elementTypes.find(({ value }) => value === type)?.value);
  return { ...draft, elements: arrangeElements(draft.elements, request, create) };
}

async function save(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await findBotInForm(parts, request, 'bot');
  const draft = readForm(request.form);
  const savedIndex = bot.forms.findIndex(({ id }) => id === draft.saved && draft.saved !== '');
  const at = savedIndex === -1 ? bot.forms.length : savedIndex;
  const { saved, ...texts } = draft;
  const id =
    draft.id === ''
      ? uniqueId(
          draft.name,
          bot.forms.filter((_form, index) => index !== savedIndex).map((form) => form.id),
          'form',
        )
      : draft.id;
  const form = { ...texts, id, elements: toElements(draft.elements) };
  return withFieldErrors(
    () =>
      saveBotPart(`forms[${String(at)}]`, async () => {
        const forms =
          savedIndex === -1 ? [...bot.forms, form] : bot.forms.map((other, index) => (index === at ? form : other));
        // If the id of the form changed, rules that show it get the new id.
        const rules = bot.rules.map((rule) =>
          savedIndex !== -1 && rule.action.type === 'display_form' && rule.action.form_id === saved
            ? { ...rule, action: { ...rule.action, form_id: id } }
            : rule,
        );
        await parts.bots.update(bot.id, { forms, rules });
        return withNotice('success', `${draft.name} saved.`, { redirect: `${formsSlug}?bot=${String(bot.id)}` });
      }),
    async (errors) => formPage(parts, bot, { draft, errors }),
  );
}

/** The elements to save. */
function toElements(drafts: readonly ElementDraft[]): FormElement[] {
  return elementsOfDrafts(drafts).map(({ parameter, source, ...element }) => {
    const type = element.type as FormElement['type'];
    const isHidden = type === 'hidden';
    return {
      ...element,
      type,
      required: element.required && !isHidden,
      source: isHidden ? joinSource({ source, parameter }) : '',
    };
  });
}
