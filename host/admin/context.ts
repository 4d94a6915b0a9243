import type { ErrorResponses } from './error-responses.ts';
import type { AdminDependencies } from './dependencies.ts';
import type { FlashNotices } from './notices.ts';
import type { AdminRegistry } from './registry.ts';
import type { Shell } from './shell.ts';

/** Dependencies of all admin routes. */
export interface AdminContext extends AdminDependencies {
  readonly registry: AdminRegistry;
  readonly shell: Shell;
  readonly flash: FlashNotices;
  readonly errorResponses: ErrorResponses;
}
