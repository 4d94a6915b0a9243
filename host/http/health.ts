import { Router } from 'express';
import type { Request, Response } from 'express';
import type { Clock, Logger } from '#plugin-api';

/** One thing that must work before the site takes requests; rejects when it does not. */
export type ReadinessCheck = () => Promise<unknown>;

export interface HealthDependencies {
  /** Named checks, for example `database`, `migrations`, `plugins`; all run in parallel at each request of `/readyz`. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly draining: () => boolean;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'after'>;
}

/** A check that takes longer has failed, in milliseconds: load balancers ask every few seconds. */
const checkLimit = 3_000;

/**
 * `GET /healthz`: 200 while the process answers at all. `GET /readyz`: 200 when every check passes, else 503; 503 too
 * while the process drains, so that no new requests are sent its way. Reasons go to the log, not to the caller.
 */
export function createHealth({ checks, draining, log, clock }: HealthDependencies): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => answer(response, 200, { status: 'ok' }));
  router.get('/readyz', async (_request: Request, response: Response) => {
    const outcomes = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => [name, await passes(name, check)] as const),
    );
    const ready = !draining() && outcomes.every(([, passed]) => passed);
    const status = draining() ? 'stopping' : ready ? 'ready' : 'not ready';
    answer(response, ready ? 200 : 503, {
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
      log.warn('A readiness check failed.', { check: name, error });
      return false;
    } finally {
      undo?.();
    }
  }
  return router;
}

function answer(response: Response, status: number, body: unknown): void {
  response.status(status).set('Cache-Control', 'no-store').json(body);
}
