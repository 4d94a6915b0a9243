import { RestError, type AdminActionResult, type AdminPageBody, type AdminRequest } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { readText } from '../../../admin-ui/form-values.ts';
import { withFieldErrors } from '../../../admin-ui/with-field-errors.ts';
import type { Bot } from '../bots/bot.ts';
import type { FormElement, FormElementType } from '../forms/form.ts';
import {
  toFormDraft,
  newElement,
  newForm,
  readForm,
  readOptions,
  type ElementDraft,
  type FormDraft,
} from './bot-form-draft.ts';
import { uniqueId, moveItem, readEdit } from '../../../admin-ui/list-edits.ts';
import { findBotInForm, findBotInQuery, saveBotPart } from './bot-request.ts';
import { formsSlug } from './bot-page-slugs.ts';
import type { FieldErrors } from '../../../kit/field-errors.ts';
import { errorAt } from '../../../admin-ui/setting-field.ts';
import { botHead, botPreview } from './bot-head.ts';

/** Kinds of fields a form may have. */
const elementTypes: readonly { readonly value: FormElementType; readonly label: string }[] = [
  { value: 'text', label: 'Line of text' },
  { value: 'textarea', label: 'Text of several lines' },
  { value: 'email', label: 'E-mail address' },
  { value: 'phone', label: 'Phone number' },
  { value: 'number', label: 'Number' },
  { value: 'select', label: 'List to choose from' },
  { value: 'radio', label: 'Choices, one of them' },
  { value: 'checkbox', label: 'Choices, several of them' },
  { value: 'consent', label: 'Consent box' },
];

interface TypedForm {
  readonly draft: FormDraft;
  readonly errors?: FieldErrors;
}

/** The data of `svc/bot-form`. */
function botFormView({ host }: ChatbotParts, bot: Bot, { draft, errors = {} }: TypedForm): Record<string, unknown> {
  const error = (path: string, label: string): string | undefined => errorAt(errors, { path, label });
  const { elements, ...texts } = draft;
  return {
    head: botHead(host, bot, 'forms'),
    preview: botPreview(host, bot),
    bot: bot.id,
    isNew: draft.saved === '',
    form: texts,
    nameError: error('name', 'Name'),
    idError:
      errors['id'] === undefined
        ? undefined
        : `Id ${errors['id'].replace(/^\S+ /, '').replace(/^is the same.*/, 'is that of another form.')}`,
    introError: error('intro', 'Text above the fields'),
    submitError: error('submit_label', 'Button'),
    thanksError: error('thanks', 'Text after it was submitted'),
    elementsError: errors['elements'] === undefined ? undefined : 'A form needs at least one field.',
    elements: elements.map((element, at) => elementRow(element, { at, last: elements.length - 1, error })),
    types: elementTypes,
    backHref: `${host.admin.url(formsSlug)}?bot=${String(bot.id)}`,
    others: Object.entries(errors)
      .filter(([path]) => /^(rules|forms)\[/.test(path))
      .map(([, sentence]) => sentence),
  };
}

interface Place {
  readonly at: number;
  readonly last: number;
  readonly error: (path: string, label: string) => string | undefined;
}

function elementRow(element: ElementDraft, { at, last, error }: Place): Record<string, unknown> {
  const path = `elements[${String(at)}]`;
  return {
    ...element,
    at,
    number: at + 1,
    title: element.label || `Field ${String(at + 1)}`,
    types: elementTypes,
    first: at === 0,
    last: at === last,
    rows: Math.min(8, Math.max(3, element.options.split('\n').length)),
    labelError: error(`${path}.label`, 'Label'),
    idError: error(`${path}.id`, 'Id')?.replace(/is the same as that of .*/, 'is that of another field.'),
    typeError: error(`${path}.type`, 'Kind'),
    helpError: error(`${path}.help`, 'Help'),
    placeholderError: error(`${path}.placeholder`, 'Hint'),
    optionsError: optionsError(error(`${path}.options`, 'Options')),
    up: `up:${String(at)}`,
    down: `down:${String(at)}`,
    remove: `remove:${String(at)}`,
  };
}

/** Of options what is wrong is told by the line; two of one value are the usual slip. */
function optionsError(sentence: string | undefined): string | undefined {
  return sentence
    ?.replace(/^(Line \d+).*is the same as that of .*$/, '$1 has a value that another line has.')
    .replace(/^(Line \d+)\.(value|label)/, '$1');
}

const template = 'svc/bot-form';

/** One form: its texts and its fields. `?form=` edits it; without it a new one begins. */
export function botFormPage(parts: ChatbotParts): AdminPageBody {
  return {
    render: async (request) => {
      const bot = await findBotInQuery(parts, request, 'bot');
      return { template, data: botFormView(parts, bot, { draft: draftOf(bot, request.query['form']) }) };
    },
    actions: {
      save: (request) => save(parts, request),
      arrange: async (request) => {
        const bot = await findBotInForm(parts, request, 'bot');
        return {
          page: {
            template,
            data: botFormView(parts, bot, { draft: arranged(readForm(request.form, true), request) }),
          },
        };
      },
    },
  };
}

function draftOf(bot: Bot, id: unknown): FormDraft {
  if (typeof id !== 'string') return newForm;
  const form = bot.forms.find((candidate) => candidate.id === id);
  if (!form)
    throw new RestError({
      code: 'rest_svc_no_form',
      status: 404,
      message: 'There is no such form. It may have been deleted.',
    });
  return toFormDraft(form);
}

/** What a button beside the fields asks for. Nothing is saved. */
function arranged(draft: FormDraft, request: AdminRequest): FormDraft {
  const { verb, at } = readEdit(request.form['_do']);
  const { elements } = draft;
  switch (verb) {
    case 'add': {
      const wanted = readText(request, 'add_type');
      return {
        ...draft,
        elements: [...elements, newElement(elementTypes.find(({ value }) => value === wanted)?.value)],
      };
    }
    case 'remove':
      return { ...draft, elements: elements.filter((_element, place) => place !== at) };
    case 'up':
      return { ...draft, elements: moveItem(elements, at, at - 1) };
    case 'down':
      return { ...draft, elements: moveItem(elements, at, at + 1) };
    default:
      return draft;
  }
}

async function save(parts: ChatbotParts, request: AdminRequest): Promise<AdminActionResult> {
  const bot = await findBotInForm(parts, request, 'bot');
  const draft = readForm(request.form);
  const place = bot.forms.findIndex(({ id }) => id === draft.saved && draft.saved !== '');
  const at = place === -1 ? bot.forms.length : place;
  const { saved, ...texts } = draft;
  const id =
    draft.id === ''
      ? uniqueId(
          draft.name,
          bot.forms.filter((_form, index) => index !== place).map((form) => form.id),
          'form',
        )
      : draft.id;
  const form = { ...texts, id, elements: withIds(draft.elements) };
  return withFieldErrors(
    () =>
      saveBotPart(`forms[${String(at)}]`, async () => {
        const forms =
          place === -1 ? [...bot.forms, form] : bot.forms.map((other, index) => (index === at ? form : other));
        // Rules follow a form whose id was changed.
        const rules = bot.rules.map((rule) =>
          place !== -1 && rule.action.type === 'display_form' && rule.action.form_id === saved
            ? { ...rule, action: { ...rule.action, form_id: id } }
            : rule,
        );
        await parts.bots.update(bot.id, { forms, rules });
        return {
          notice: { kind: 'success', text: `${draft.name} is saved.` },
          redirect: `${formsSlug}?bot=${String(bot.id)}`,
        };
      }),
    {
      inputName: (name) => name,
      page: async (errors) => ({ template, data: botFormView(parts, bot, { draft, errors }) }),
    },
  );
}

/** Elements as they are saved; one without an id gets one after its label. */
function withIds(elements: readonly ElementDraft[]): FormElement[] {
  const taken = elements.map(({ id }) => id).filter((id) => id !== '');
  return elements.map((element) => {
    const id = element.id === '' ? uniqueId(element.label, taken, element.type) : element.id;
    taken.push(id);
    const type = element.type as FormElement['type'];
    return {
      ...element,
      id,
      type,
      options: ['select', 'radio', 'checkbox'].includes(type) ? readOptions(element.options) : [],
    };
  });
}
