import type { ServiceContext } from '../../../wiring.ts';
import { partsOf } from '../../../kit/parts-of.ts';
import type { Logs } from './logs.ts';

/** The logs of this process, loaded when they are first asked for. */
export const logsOf: (context: ServiceContext) => Promise<Logs> = partsOf(async ({ host }) =>
  (await import('./logs.ts')).createLogs({ host }),
);
