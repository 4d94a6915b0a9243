import type { ServiceContext } from '../../../wiring.ts';
import { partsOf } from '../../../kit/parts-of.ts';
import { createMinuteCounts, type RequestCounts } from '../../../kit/visitors/minute-counts.ts';
import { createSessionTokens } from '../../../kit/visitors/session-token.ts';
import { createSigner } from '../../../kit/visitors/signer.ts';
import { imagesOf } from '../images-of.ts';
import { createFormTokens, type FormTokens } from './form-token.ts';
import { createVisitorDraws, type VisitorDraws } from './visitor-draws.ts';
import { createVisitorLimits } from './visitor-limits.ts';
import { createVisitorRequests, type VisitorRequests } from './visitor-requests.ts';
import { createVisitorSettings, type VisitorSettingsStore } from './visitor-settings.ts';
import { createVisitors, type Visitors } from './visitor.ts';

/** What visitors draw by. One per context. */
export interface VisitorImages {
  readonly settings: VisitorSettingsStore;
  readonly visitors: Visitors;
  readonly requests: VisitorRequests;
  readonly draws: VisitorDraws;
  readonly forms: FormTokens;
  readonly floods: RequestCounts;
}

export const visitorImagesOf: (context: ServiceContext) => VisitorImages = partsOf((context) => {
  const { host } = context;
  const signer = createSigner({ host });
  const requests = createVisitorRequests(host);
  const draws = createVisitorDraws({
    host,
    requests,
    limits: createVisitorLimits({ host, signer }),
    drawing: imagesOf(context).drawing,
    timeout: async () => (await context.settings.timeouts()).images,
  });
  host.onStop(() => draws.stop());
  return {
    requests,
    draws,
    settings: createVisitorSettings({ host, providers: async () => context.providers.all() }),
    visitors: createVisitors({ host, tokens: createSessionTokens({ signer, clock: host.clock }) }),
    forms: createFormTokens({ signer, clock: host.clock }),
    floods: createMinuteCounts({ clock: host.clock }),
  };
});
