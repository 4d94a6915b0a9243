import { Router } from 'express';
import type { Request, Response } from 'express';
import { errorText, type Clock, type Logger } from '#plugin-api';
import { isLocalRequest } from './metrics.ts';
import { NotReadyError, type ReadinessCheck, type ReadinessWarning } from './readiness.ts';

export interface HealthDependencies {
  /** Named checks, for example `database`, `migrations`, `plugins`; all run in parallel for each request of `/readyz`. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly warnings?: Readonly<Record<string, ReadinessWarning>>;
  readonly draining: () => boolean;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'after'>;
}

/** Time limit of a check in milliseconds: load balancers poll every few seconds. */
const checkLimit = 3_000;

/**
 * `GET /healthz`: 200 while the process responds. `GET /readyz`: 200 when every check passes, else 503. It also returns 503
 * while the process drains, so that load balancers send no new requests. Reasons are logged. What is impaired is `degraded`,
 * and what cannot be found out without the database `unknown`. Local callers also get the sentences in `details`, and those
 * of a `NotReadyError`.
 */
export function createHealth({ checks, warnings = {}, draining, log, clock }: HealthDependencies): Router {
  const router = Router();
  router.get('/healthz', (_request, response) => sendJson(response, 200, { status: 'ok' }));
  router.get('/readyz', async (request: Request, response: Response) => {
    const [outcomes, details] = await Promise.all([
      Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await failureOf(name, check)] as const)),
      findDetails(),
    ]);
    for (const [name, failure] of outcomes) if (failure instanceof NotReadyError) details[name] = failure.message;
    const isDatabaseAway = outcomes.some(([name, failure]) => name === 'database' && failure !== null);
    const nameOf = (name: string, failure: Error | null): string =>
      failure === null
        ? 'ok'
        : isDatabaseAway && name !== 'database' && !(failure instanceof NotReadyError)
          ? 'unknown'
          : 'failed';
    const ready = !draining() && outcomes.every(([, failure]) => failure === null);
    const status = draining() ? 'stopping' : ready ? 'ready' : 'not ready';
    sendJson(response, ready ? 200 : 503, {
      status,
      checks: {
        ...Object.fromEntries(outcomes.map(([name, failure]) => [name, nameOf(name, failure)])),
        ...Object.fromEntries(Object.keys(warnings).map((name) => [name, name in details ? 'degraded' : 'ok'])),
      },
      ...(Object.keys(details).length > 0 && isLocalRequest(request) && { details }),
    });
  });

  /** The sentences of what is impaired. What cannot be checked now, such as without a database, is left to the checks. */
  async function findDetails(): Promise<Record<string, string>> {
    const found = await Promise.all(
      Object.entries(warnings).map(async ([name, check]) => {
        let text: string | null = null;
        await failureOf(name, async () => (text = await check()));
        return text === null ? [] : [[name, text] as const];
      }),
    );
    return Object.fromEntries(found.flat());
  }

  /** Why the check fails; null: it passes. */
  async function failureOf(name: string, check: ReadinessCheck): Promise<Error | null> {
    let undo: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      undo = clock.after(checkLimit, () => reject(new Error(`The check did not end within ${checkLimit} ms.`)));
    });
    try {
      await Promise.race([check(), late]);
      return null;
    } catch (error) {
      log.warn('Readiness check failed', { event: 'readiness_check_failed', check: name, error });
      return error instanceof Error ? error : new Error(errorText(error));
    } finally {
      undo?.();
    }
  }
  return router;
}

function sendJson(response: Response, status: number, body: unknown): void {
  response.status(status).set('Cache-Control', 'no-store').json(body);
}
