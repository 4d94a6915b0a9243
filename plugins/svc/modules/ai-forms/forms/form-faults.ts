import type { Faults } from '../../../kit/settings-schema/check-shape.ts';
import { readAllowedDomain } from '../../../kit/visitors/allowed-domain.ts';
import type { FormElement, FormSettings } from './form.ts';
import { templateFaults } from './prompt-template.ts';

/** What forms may name, at this moment. */
export interface KnownNames {
  /** Ids of providers that generate text. */
  readonly textProviders: readonly string[];
  readonly embeddingProviders: readonly string[];
  readonly vectorStores: readonly string[];
  /** Ids. */
  readonly knowledgeBases: readonly number[];
}

/** Megabytes of a file. */
export const largestFile = 5;
/** Megabytes of all files of a submission. */
export const largestFiles = 12;

/**
 * What is wrong with settings whose members are right one by one.
 *
 * @param before what a change began with: a provider or store that is gone since it was saved is no fault of a change to something else
 */
export function formFaults(settings: FormSettings, known: KnownNames, before: FormSettings | null): Faults {
  return {
    ...providerFaults(settings, known, before),
    ...knowledgeFaults(settings, known, before),
    ...domainFaults(settings),
    ...elementFaults(settings.elements),
    ...(settings.prompt.trim() === '' ? { prompt: 'prompt must not be empty: write what the model is to do, with {id} of a field where its value belongs.' } : templateFaults(settings.prompt, settings.elements)),
  };
}

function providerFaults({ provider }: FormSettings, { textProviders }: KnownNames, before: FormSettings | null): Faults {
  if (textProviders.includes(provider) || before?.provider === provider) return {};
  return { provider: `provider must be one of ${textProviders.join(', ')}.` };
}

function knowledgeFaults({ knowledge }: FormSettings, { vectorStores, embeddingProviders, knowledgeBases }: KnownNames, before: FormSettings | null): Faults {
  if (!knowledge.enabled) return {};
  const old = before?.knowledge.enabled === true ? before.knowledge : null;
  if (knowledge.base !== 0) {
    return knowledgeBases.includes(knowledge.base) || old?.base === knowledge.base ? {} : { 'knowledge.base': 'knowledge.base must be the id of a knowledge base, or 0 for a vector store of its own.' };
  }
  const faults: Faults = {};
  const oneOf = (member: 'store' | 'embedding_provider', ids: readonly string[]): void => {
    if (ids.includes(knowledge[member]) || old?.[member] === knowledge[member]) return;
    faults[`knowledge.${member}`] = `knowledge.${member} must be one of ${ids.join(', ')} while knowledge is on.`;
  };
  oneOf('store', vectorStores);
  oneOf('embedding_provider', embeddingProviders);
  for (const member of ['target', 'embedding_model'] as const) {
    if (knowledge[member].trim() === '') faults[`knowledge.${member}`] = `knowledge.${member} must not be empty while knowledge is on.`;
  }
  return faults;
}

function domainFaults({ embed }: FormSettings): Faults {
  return Object.fromEntries(embed.allowed_domains.flatMap((domain, at) => {
    const path = `embed.allowed_domains[${String(at)}]`;
    return readAllowedDomain(domain) === null ? [[path, `${path} must be a domain such as example.com, https://shop.example.com:8443 or *.example.com.`]] : [];
  }));
}

function elementFaults(elements: readonly FormElement[]): Faults {
  const faults: Faults = repeated('elements', elements.map(({ id }) => id), 'id');
  elements.forEach((element, at) => {
    const here = `elements[${String(at)}]`;
    const { type, options, min, max } = element;
    if (['select', 'radio', 'checkbox'].includes(type) && options.length === 0) faults[`${here}.options`] = `${here}.options must hold at least one option.`;
    Object.assign(faults, repeated(`${here}.options`, options.map(({ value }) => value), 'value'));
    if (min !== null && max !== null && min > max) faults[`${here}.max`] = `${here}.max must not be smaller than the least.`;
    if (type === 'file' && max !== null && !(max > 0 && max <= largestFile)) faults[`${here}.max`] = `${here}.max must be from 0.1 to ${String(largestFile)} megabytes.`;
    if (type !== 'number' && type !== 'file') {
      if (min !== null && (min < 0 || !Number.isInteger(min))) faults[`${here}.min`] = `${here}.min must be a whole number, 0 or more.`;
      if (max !== null && (max < 1 || !Number.isInteger(max))) faults[`${here}.max`] = `${here}.max must be a whole number, 1 or more.`;
    }
  });
  return faults;
}

/** A fault for each that was there before in the list. */
function repeated(path: string, values: readonly string[], member: string): Faults {
  const faults: Faults = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    faults[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return faults;
}
