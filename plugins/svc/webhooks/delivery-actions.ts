import type { HostApi } from '#plugin-api';
import type { CompletedAttempt } from './attempt.ts';
import './hooks.ts';
import type { SettingsStore } from './settings-store.ts';
import { completeTarget, toTarget } from './target.ts';

/** Runs the actions for a delivery that succeeded or failed. Their failures are logged only. */
export function createDeliveryActions(
  { hooks, log }: Pick<HostApi, 'hooks' | 'log'>,
  settings: Pick<SettingsStore, 'current'>,
): (completed: CompletedAttempt) => void {
  async function run(
    action: 'svc_event_webhooks_delivery_completed' | 'svc_event_webhooks_delivery_failed',
    { result: { job, state, attempted, status, error }, outcome }: CompletedAttempt,
  ): Promise<void> {
    const endpoint = (await settings.current()).byId.get(job.endpointId);
    const target =
      job.target === null && endpoint
        ? toTarget(endpoint)
        : completeTarget(job.target === null ? { id: job.endpointId } : (JSON.parse(job.target) as object));
    await hooks.doActionAsync(
      action,
      {
        delivery_id: job.uuid,
        endpoint_id: job.endpointId,
        status: state,
        attempts: job.attempts + Number(attempted),
        http_status: status,
        duration_ms: Math.round(outcome?.duration ?? 0),
        ...(error !== null && { error }),
      },
      target,
      JSON.parse((job.bodyOverride ?? job.event?.body ?? '{}').toString()),
    );
  }

  return (completed) => {
    const { state } = completed.result;
    if (state === 'pending') return;
    const action =
      state === 'delivered' ? 'svc_event_webhooks_delivery_completed' : 'svc_event_webhooks_delivery_failed';
    if (hooks.hasAction(action) === false) return;
    run(action, completed).catch((error: unknown) => {
      log.error('Action after a webhook delivery failed', { event: 'webhook_delivery_action_failed', action, error });
    });
  };
}
