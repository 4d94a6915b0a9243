import type { HostApi } from '#plugin-api';
import type { Catalogue } from './catalogue.ts';
import type { Condition } from './delivery.ts';
import type { SettingsStore, Snapshot } from './settings-store.ts';
import type { Circuits } from './worker/circuits.ts';

export interface WhyNotParts {
  readonly hooks: HostApi['hooks'];
  readonly settings: SettingsStore;
  readonly catalogue: Catalogue;
  readonly circuits: Circuits;
}

/** At this moment: contract 6.1, what plugins filter, the queue and the endpoint's circuit. */
export async function whyNot(
  { hooks, settings, catalogue, circuits }: WhyNotParts,
  event: string,
  endpointId: string,
): Promise<Condition[]> {
  const snapshot = await settings.current();
  const conditions = fourConditions(snapshot, catalogue.normalise(event) ?? event, endpointId);
  const processing = await hooks
    .applyFiltersAsync('svc_event_delivery_queue_processing_enabled', true)
    .catch(() => false);
  const paused = (await circuits.list()).find(
    (circuit) => circuit.endpointId === endpointId && circuit.pausedAt !== null,
  );
  const filtered = (name: string): boolean => hooks.hasFilter(name) === false;
  return [
    ...conditions,
    {
      id: 'envelope_filter',
      label: 'No plugin changes the envelope',
      met: filtered('svc_event_webhooks_envelope'),
      hint: 'A plugin filters svc_event_webhooks_envelope. If it throws, deliveries fail and say so.',
    },
    {
      id: 'targets_filter',
      label: 'No plugin changes the targets',
      met: filtered('svc_event_webhooks_targets'),
      hint: 'A plugin filters svc_event_webhooks_targets and may leave this endpoint out.',
    },
    {
      id: 'processing',
      label: 'The queue is being worked',
      met: processing === true,
      hint: 'A plugin holds the queue with svc_event_delivery_queue_processing_enabled.',
    },
    {
      id: 'circuit',
      label: 'The endpoint is not paused',
      met: paused === undefined,
      hint: `It has been failing: ${paused?.reason ?? ''} Its events wait and go out when it answers again.`,
    },
  ];
}

/** Contract 6.1. */
export function fourConditions({ stored, byId }: Snapshot, event: string, endpointId: string): Condition[] {
  const endpoint = byId.get(endpointId);
  return [
    { id: 'switch', label: 'Event webhooks are on', met: stored.enabled, hint: 'Switch them on above the endpoints.' },
    {
      id: 'enabled',
      label: 'The endpoint is on',
      met: endpoint?.enabled === true,
      hint: endpoint ? 'Switch the endpoint on.' : 'There is no such endpoint.',
    },
    {
      id: 'url',
      label: 'The endpoint has a URL',
      met: (endpoint?.url ?? '') !== '',
      hint: 'Give it the address to send to.',
    },
    {
      id: 'subscribed',
      label: `It is subscribed to ${event}`,
      met: endpoint?.events.includes(event) === true,
      hint: 'Tick the event in the endpoint.',
    },
  ];
}
