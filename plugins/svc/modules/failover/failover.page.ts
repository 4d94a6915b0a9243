import { checkValue, withNotice, invalidFields, readForm, withFieldErrors } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest } from '#plugin-api';
import type { Capability } from '../../ai/capable-provider.ts';
import { readText } from '../../admin-ui/form-values.ts';
import { moveItem } from '../../admin-ui/list-edits.ts';
import { maxTargets, targetSchema, type EmbeddingTarget, type Failover, type FailoverTarget } from './failover.ts';
import { uses } from './failover-store.ts';
import { failoverView, targetKey, targetName } from './failover-view.ts';
import type { FailoverPorts } from './module.ts';

const template = 'svc/failover';
const slug = 'svc/failover';

/** The page "Failover": its switches, and for each use the fallbacks as cards in the order in which they are tried. */
export function createPage(ports: FailoverPorts): AdminPageBody {
  const { failover } = ports;
  return {
    render: async () => ({ template, data: await failoverView(ports) }),
    actions: {
      save: async (request) => {
        const { enabled } = await failover.save({
          enabled: readText(request, 'enabled') === '1',
          rest: readText(request, 'rest') === '1',
        });
        return withNotice(
          'success',
          enabled ? 'Saved. If a provider fails, the next one is tried.' : 'Saved. Failover is off.',
        );
      },
      set: (request) => setTarget(request, ports),
      move: (request) =>
        changeTarget(request, ports, ({ list, at, use }) => {
          const to = readText(request, 'to') === 'up' ? at - 1 : at + 1;
          const position = Math.min(list.length, Math.max(1, to + 1));
          return {
            list: moveItem(list, at, to),
            notice: { kind: 'success', text: 'Order changed.' },
            // The moved card, where the keyboard goes on.
            redirect: `${slug}?use=${use}#failover-${use}-${String(position)}`,
          };
        }),
      remove: (request) =>
        changeTarget(request, ports, ({ list, at, use, target }) => ({
          list: list.filter((_target, index) => index !== at),
          notice: {
            kind: 'success',
            text: `${targetName(ports, target)} removed.`,
            undo: { action: 'set', fields: { use, position: String(at), ...textsOf(target) } },
          },
          redirect: slug,
        })),
    },
  };
}

type Targets = readonly (FailoverTarget | EmbeddingTarget)[];

interface FoundTarget {
  readonly use: Capability;
  readonly list: Targets;
  /** Index in the list. */
  readonly at: number;
  readonly target: FailoverTarget | EmbeddingTarget;
}

/** The posted entry of a list; null if the list has changed since the page was shown. */
function findTarget(request: AdminRequest, stored: Failover): FoundTarget | null {
  const use = readUse(request);
  const list: Targets = stored[use];
  const at = Number(readText(request, 'at') || -1);
  const target = list[at];
  return target !== undefined && targetKey(target) === readText(request, 'key') ? { use, list, at, target } : null;
}

function readUse(request: AdminRequest): Capability {
  const typed = readText(request, 'use');
  return uses.find((use) => use === typed) ?? 'text';
}

function withList(use: Capability, list: Targets): Partial<Failover> {
  const changes: Record<string, unknown> = { [use]: list };
  return changes as Partial<Failover>;
}

const listChanged = (): AdminActionResult =>
  withNotice('error', 'This list has changed in the meantime, so nothing was done. Try again.', { redirect: slug });

/** Changes the list of the posted entry. */
async function changeTarget(
  request: AdminRequest,
  { failover }: FailoverPorts,
  change: (found: FoundTarget) => AdminActionResult & { readonly list: Targets },
): Promise<AdminActionResult> {
  const found = findTarget(request, await failover.get());
  if (found === null) return listChanged();
  const { list, ...result } = change(found);
  await failover.save(withList(found.use, list));
  return result;
}

/** Adds the posted entry at its position, by default the last, or replaces the one that `at` and `key` name. */
async function setTarget(request: AdminRequest, ports: FailoverPorts): Promise<AdminActionResult> {
  const stored = await ports.failover.get();
  const isNew = readText(request, 'at') === '';
  const found = isNew ? null : findTarget(request, stored);
  if (!isNew && found === null) return listChanged();
  const use = readUse(request);
  const typed = readForm(targetSchema(use), request.form);
  return withFieldErrors(
    async () => {
      const list: Targets = stored[use];
      const target = readTarget(typed, { use, ports, others: list.filter((_target, index) => index !== found?.at) });
      const position = found?.at ?? readPosition(request, list.length);
      await ports.failover.save(
        withList(use, [...list.slice(0, position), target, ...list.slice(position + (found ? 1 : 0))]),
      );
      return withNotice('success', `${targetName(ports, target)} saved.`, { redirect: slug });
    },
    async (errors) => ({
      template,
      data: await failoverView(ports, { use, at: found?.at ?? null, values: typed, errors }),
    }),
  );
}

function readPosition(request: AdminRequest, length: number): number {
  const typed = readText(request, 'position');
  return /^\d{1,2}$/.test(typed) ? Math.min(length, Number(typed)) : length;
}

interface ReadInit {
  readonly use: Capability;
  readonly ports: FailoverPorts;
  /** The other entries of the list. */
  readonly others: Targets;
}

/** @throws RestError 400 with a sentence for each invalid field */
function readTarget(typed: object, { use, ports, others }: ReadInit): FailoverTarget | EmbeddingTarget {
  const wrong = checkValue(targetSchema(use), typed).errors;
  const target = typed as FailoverTarget;
  const errors: Record<string, string> = {};
  if (ports.providers.get(target.provider)?.[use] === undefined) errors['provider'] = 'Choose a provider.';
  if (wrong['model']) errors['model'] = 'Enter the name of a model, at most 200 characters.';
  if (wrong['dimensions']) errors['dimensions'] = 'Enter the dimensions of the model’s vectors, such as 1536.';
  if (others.some((other) => targetKey(other) === targetKey(target)))
    errors['model'] = 'This provider and model are already in the list.';
  if (others.length >= maxTargets)
    errors['model'] = `A list has at most ${String(maxTargets)} fallbacks. Remove one first.`;
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return target;
}

function textsOf(target: FailoverTarget | EmbeddingTarget): Record<string, string> {
  return Object.fromEntries(Object.entries(target).map(([name, value]) => [name, String(value)]));
}
