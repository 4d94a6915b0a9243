import type { Answers } from './error-responses.ts';
import type { AdminDependencies } from './dependencies.ts';
import type { FlashNotices } from './notices.ts';
import type { AdminRegistry } from './registry.ts';
import type { Shell } from './shell.ts';

/** What the admin's routes share. */
export interface AdminContext extends AdminDependencies {
  readonly registry: AdminRegistry;
  readonly shell: Shell;
  readonly flash: FlashNotices;
  readonly answers: Answers;
}
