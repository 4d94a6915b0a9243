import type { ChatbotParts } from '../chatbots.ts';
import type { FieldFaults } from '../../../kit/field-errors.ts';
import type { Bot } from '../bots/bot.ts';
import type { FormElementType } from '../forms/form.ts';
import { faultAt } from '../../../admin-ui/setting-field.ts';
import type { ElementDraft, FormDraft } from './bot-form-draft.ts';
import { botHead, botPreview } from './bot-head.ts';
import { formsSlug } from './bot-pages.ts';

/** Kinds of fields a form may have. */
export const elementTypes: readonly { readonly value: FormElementType; readonly label: string }[] = [
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

export interface TypedForm {
  readonly draft: FormDraft;
  readonly faults?: FieldFaults;
}

/** The data of `svc/bot-form`. */
export function botFormView(
  { host }: ChatbotParts,
  bot: Bot,
  { draft, faults = {} }: TypedForm,
): Record<string, unknown> {
  const fault = (path: string, label: string): string | undefined => faultAt(faults, { path, label });
  const { elements, ...texts } = draft;
  return {
    head: botHead(host, bot, 'forms'),
    preview: botPreview(host, bot),
    bot: bot.id,
    isNew: draft.saved === '',
    form: texts,
    nameFault: fault('name', 'Name'),
    idFault:
      faults['id'] === undefined
        ? undefined
        : `Id ${faults['id'].replace(/^\S+ /, '').replace(/^is the same.*/, 'is that of another form.')}`,
    introFault: fault('intro', 'Text above the fields'),
    submitFault: fault('submit_label', 'Button'),
    thanksFault: fault('thanks', 'Text after it was submitted'),
    elementsFault: faults['elements'] === undefined ? undefined : 'A form needs at least one field.',
    elements: elements.map((element, at) => elementRow(element, { at, last: elements.length - 1, fault })),
    types: elementTypes,
    backHref: `${host.admin.url(formsSlug)}?bot=${String(bot.id)}`,
    others: Object.entries(faults)
      .filter(([path]) => /^(rules|forms)\[/.test(path))
      .map(([, sentence]) => sentence),
  };
}

interface Place {
  readonly at: number;
  readonly last: number;
  readonly fault: (path: string, label: string) => string | undefined;
}

function elementRow(element: ElementDraft, { at, last, fault }: Place): Record<string, unknown> {
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
    labelFault: fault(`${path}.label`, 'Label'),
    idFault: fault(`${path}.id`, 'Id')?.replace(/is the same as that of .*/, 'is that of another field.'),
    typeFault: fault(`${path}.type`, 'Kind'),
    helpFault: fault(`${path}.help`, 'Help'),
    placeholderFault: fault(`${path}.placeholder`, 'Hint'),
    optionsFault: optionsFault(fault(`${path}.options`, 'Options')),
    up: `up:${String(at)}`,
    down: `down:${String(at)}`,
    remove: `remove:${String(at)}`,
  };
}

/** Of options what is wrong is told by the line; two of one value are the usual slip. */
function optionsFault(sentence: string | undefined): string | undefined {
  return sentence
    ?.replace(/^(Line \d+).*is the same as that of .*$/, '$1 has a value that another line has.')
    .replace(/^(Line \d+)\.(value|label)/, '$1');
}
