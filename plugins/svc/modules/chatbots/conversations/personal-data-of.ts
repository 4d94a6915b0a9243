import type { ServiceContext } from '../../../wiring.ts';
import { partsOf } from '../../../kit/parts-of.ts';
import { chatbotsOf } from '../chatbots.ts';
import { logsOf } from './logs-of.ts';
import type { PersonalData } from './personal-data.ts';

/** Loaded when it is first asked for. */
export const personalDataOf: (context: ServiceContext) => Promise<PersonalData> = partsOf(async (context) => {
  const { createPersonalData } = await import('./personal-data.ts');
  return createPersonalData({
    host: context.host,
    submissions: chatbotsOf(context).submissions,
    logs: await logsOf(context),
  });
});
