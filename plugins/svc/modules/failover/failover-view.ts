import { formFields, type Choice, type FieldErrors } from '#plugin-api';
import type { Capability } from '../../ai/capable-provider.ts';
import { providerChoices } from '../../admin-ui/model-choices.ts';
import { modelsOfKind, type ModelKind } from '../../settings/model-lists.ts';
import { maxTargets, targetSchema, type EmbeddingTarget, type FailoverTarget } from './failover.ts';
import { uses } from './failover-store.ts';
import type { FailoverPorts } from './module.ts';

/** A form that was refused. */
export interface RefusedTarget {
  readonly use: Capability;
  /** Index in the list; null for a new entry. */
  readonly at: number | null;
  /** As entered. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: FieldErrors;
}

const texts: Readonly<
  Record<
    Capability,
    { readonly title: string; readonly help: string; readonly kind: ModelKind; readonly model: string }
  >
> = {
  text: { title: 'Text', help: 'Tried in this order.', kind: 'text', model: 'claude-sonnet-5-5' },
  images: { title: 'Images', help: 'Tried in this order.', kind: 'image', model: 'imagen-4' },
  embeddings: {
    title: 'Embeddings',
    help:
      'Tried in this order, if the dimensions are those of the failed model. List the same model at several ' +
      'providers, including your main one: vectors of different models do not compare.',
    kind: 'embedding',
    model: 'text-embedding-3-small',
  },
};

/** Offered models of a provider at most. */
const maxOffered = 100;

/** Identifies an entry of a list. */
export function targetKey(target: FailoverTarget | EmbeddingTarget): string {
  return JSON.stringify([target.provider, target.model, 'dimensions' in target ? target.dimensions : null]);
}

/** `OpenAI gpt-5.6-terra` */
export function targetName(
  { providers }: Pick<FailoverPorts, 'providers'>,
  { provider, model }: FailoverTarget,
): string {
  return `${providers.get(provider)?.label ?? provider} ${model}`;
}

/** The data of `svc/failover`. */
export async function failoverView(ports: FailoverPorts, refused?: RefusedTarget): Promise<Record<string, unknown>> {
  const { enabled, rest, ...lists } = await ports.failover.get();
  return {
    enabled,
    rest,
    isEmpty: uses.every((use) => lists[use].length === 0),
    lists: await Promise.all(
      uses.map((use) =>
        listView(use, { ports, list: lists[use], refused: refused?.use === use ? refused : undefined }),
      ),
    ),
  };
}

interface ListInit {
  readonly ports: FailoverPorts;
  readonly list: readonly (FailoverTarget | EmbeddingTarget)[];
  readonly refused: RefusedTarget | undefined;
}

async function listView(use: Capability, { ports, list, refused }: ListInit): Promise<Record<string, unknown>> {
  const id = `failover-${use}`;
  const choices = await providerChoices(ports, use);
  const form = (at: number | null, stored: object) => {
    const { values, errors } = refused?.at === at ? refused : { values: stored, errors: {} };
    const hints = { provider: { choices }, model: { list: `${id}-models`, placeholder: texts[use].model } };
    return {
      fields: formFields(targetSchema(use), {
        values,
        errors,
        hints,
        id: `${id}-${at === null ? 'new' : String(at + 1)}`,
      }),
    };
  };
  return {
    id,
    title: texts[use].title,
    help: texts[use].help,
    models: { id: `${id}-models`, options: await modelOptions(use, { ports, choices }) },
    entries: list.map((target, at) => ({
      ...entryView(target, { ports, choices, use, at }),
      first: at === 0,
      last: at === list.length - 1,
      open: refused?.at === at,
      form: {
        ...form(at, target),
        submit: 'Save',
        hidden: fieldsOf(target, { use, at }),
      },
    })),
    add:
      list.length < maxTargets || refused?.at === null
        ? { ...form(null, { provider: choices[0]?.value }), submit: 'Add', hidden: { use }, open: refused?.at === null }
        : null,
  };
}

interface EntryInit {
  readonly ports: FailoverPorts;
  readonly choices: readonly Choice[];
  readonly use: Capability;
  readonly at: number;
}

function entryView(
  target: FailoverTarget | EmbeddingTarget,
  { ports, choices, use, at }: EntryInit,
): Record<string, unknown> {
  const provider = ports.providers.get(target.provider)?.label ?? target.provider;
  const choice = choices.find(({ value }) => value === target.provider);
  const fields = fieldsOf(target, { use, at });
  return {
    id: `failover-${use}-${String(at + 1)}`,
    position: at + 1,
    name: targetName(ports, target),
    provider,
    model: target.model,
    dimensions: 'dimensions' in target ? target.dimensions : null,
    badge:
      choice === undefined
        ? { text: 'Not available', kind: 'error' }
        : choice.label === provider
          ? null
          : { text: 'Not configured', kind: 'warning' },
    fields,
    upFields: { ...fields, to: 'up' },
    downFields: { ...fields, to: 'down' },
  };
}

/** What the forms of an entry send to name it. */
function fieldsOf(
  target: FailoverTarget | EmbeddingTarget,
  { use, at }: Pick<EntryInit, 'use' | 'at'>,
): Readonly<Record<string, string>> {
  return { use, at: String(at), key: targetKey(target) };
}

/** The known models of the providers, each named with its provider. */
async function modelOptions(
  use: Capability,
  { ports, choices }: Pick<EntryInit, 'ports' | 'choices'>,
): Promise<Choice[]> {
  const lists = await Promise.all(
    choices.map(async ({ value: provider }) =>
      modelsOfKind(await ports.tester.models(provider), texts[use].kind)
        .slice(0, maxOffered)
        .map((model) => ({ value: model, label: ports.providers.get(provider)?.label ?? provider })),
    ),
  );
  return lists.flat();
}
