import { Router } from 'express';
import type { Request, Response } from 'express';
import type { Clock, Logger } from '#plugin-api';

/** A condition for the site to accept requests; rejects when it is not met. */
export type ReadinessCheck = () => Promise<unknown>;

export interface HealthDependencies {
  /** Named checks, for example `database`, `migrations`, `plugins`; all run in parallel for each request of `/readyz`. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly draining: () => boolean;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'after'>;
}

/** Time limit of a check in milliseconds: load balancers poll every few seconds. */
const checkLimit = 3_000;

/**
 * `GET /healthz`: 200 while the process responds. `GET /readyz`: 200 when every check passes, else 503. It also returns 503
 * while the process drains, so that load balancers send no new requests. Reasons are logged, not sent to the caller.
 */
export function createHealth({ checks, draining, log, clock }: HealthDependencies): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => sendJson(response, 200, { status: 'ok' }));
  router.get('/readyz', async (_request: Request, response: Response) => {
    const outcomes = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await passes(name, check)] as const),
    );
    const ready = !draining() && outcomes.every(([, passed]) => passed);
    const status = draining() ? 'stopping' : ready ? 'ready' : 'not ready';
    sendJson(response, ready ? 200 : 503, {
      status,
      checks: Object.fromEntries(outcomes.map(([name, passed]) => [name, passed ? 'ok' : 'failed'])),
    });
  });

  async function passes(name: string, check: ReadinessCheck): Promise<boolean> {
    let undo: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      undo = clock.after(checkLimit, () => reject(new Error(`The check did not end within ${checkLimit} ms.`)));
    });
    try {
      await Promise.race([check(), late]);
      return true;
    } catch (error) {
      log.warn('Readiness check failed', { event: 'readiness_check_failed', check: name, error });
      return false;
    } finally {
      undo?.();
    }
  }
  return router;
}

function sendJson(response: Response, status: number, body: unknown): void {
  response.status(status).set('Cache-Control', 'no-store').json(body);
}
