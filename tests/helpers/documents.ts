import { createSystemClock } from '../../host/clock.ts';
import { createDocuments } from '../../host/documents/documents.ts';
import { silentLog } from './silent-log.ts';

/** For tests of parts that read documents. Its threads start when needed, end when idle, and do not keep the process alive. */
export const documents = createDocuments({ clock: createSystemClock(), log: silentLog });
