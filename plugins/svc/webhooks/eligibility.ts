import type { HostApi } from '#plugin-api';
import type { Catalogue } from './catalogue.ts';
import type { Condition } from './delivery.ts';
import type { SettingsStore, Snapshot } from './settings-store.ts';
import type { Circuits } from './worker/circuits.ts';

export interface EligibilityParts {
  readonly hooks: HostApi['hooks'];
  readonly settings: SettingsStore;
  readonly catalogue: Catalogue;
  readonly circuits: Circuits;
}

/** Checks contract 6.1, filters of plugins, the queue and the endpoint's circuit, as they are now. */
export async function checkEligibility(
  { hooks, settings, catalogue, circuits }: EligibilityParts,
  event: string,
  endpointId: string,
): Promise<Condition[]> {
  const snapshot = await settings.current();
  const conditions = subscriptionConditions(snapshot, catalogue.resolveName(event) ?? event, endpointId);
  const processing = await hooks
    .applyFiltersAsync('svc_event_delivery_queue_processing_enabled', true)
    .catch(() => false);
  const paused = (await circuits.list()).find(
    (circuit) => circuit.endpointId === endpointId && circuit.pausedAt !== null,
  );
  const isUnfiltered = (name: string): boolean => hooks.hasFilter(name) === false;
  const held = snapshot.holdReason(snapshot.byId.get(endpointId));
  return [
    ...conditions,
    {
      id: 'secret',
      label: 'Its signing secret and headers can be read',
      met: held === null,
      hint: held ?? '',
    },
    {
      id: 'envelope_filter',
      label: 'No plugin changes the envelope',
      met: isUnfiltered('svc_event_webhooks_envelope'),
      hint: 'A plugin filters svc_event_webhooks_envelope. If the filter throws, the delivery fails and shows the error.',
    },
    {
      id: 'targets_filter',
      label: 'No plugin changes the targets',
      met: isUnfiltered('svc_event_webhooks_targets'),
      hint: 'A plugin filters svc_event_webhooks_targets and may remove this endpoint.',
    },
    {
      id: 'processing',
      label: 'The queue is processed',
      met: processing === true,
      hint: 'A plugin blocks the queue with svc_event_delivery_queue_processing_enabled.',
    },
    {
      id: 'circuit',
      label: 'The endpoint is not paused',
      met: paused === undefined,
      hint:
        paused?.nextProbeAt === null
          ? `${paused.reason} Its events wait until you resume it.`
          : `It keeps failing: ${paused?.reason ?? ''} Its events are sent when a probe succeeds.`,
    },
  ];
}

/** Contract 6.1. */
export function subscriptionConditions({ stored, byId }: Snapshot, event: string, endpointId: string): Condition[] {
  const endpoint = byId.get(endpointId);
  return [
    {
      id: 'switch',
      label: 'Event webhooks are on',
      met: stored.enabled,
      hint: 'Turn them on at the top of the page "Webhooks".',
    },
    {
      id: 'enabled',
      label: 'The endpoint is on',
      met: endpoint?.enabled === true,
      hint: endpoint ? 'Turn the endpoint on.' : 'The endpoint does not exist.',
    },
    {
      id: 'url',
      label: 'The endpoint has a URL',
      met: (endpoint?.url ?? '') !== '',
      hint: 'Enter the URL to send events to.',
    },
    {
      id: 'subscribed',
      label: `The endpoint is subscribed to ${event}`,
      met: endpoint?.events.includes(event) === true,
      hint: 'Select the event in the endpoint.',
    },
    {
      id: 'content',
      label: 'The endpoint takes any content',
      met: (endpoint?.filter ?? '').trim() === '',
      hint: `Only events that match its filter are sent: ${endpoint?.filter ?? ''}`,
    },
  ];
}
