import type { HostApi } from '#plugin-api';
import type { ProviderSource } from './provider-store.ts';
import type { ProviderTester } from './provider-tester.ts';
import type { Settings } from './settings.ts';

/** What the pages and commands of the settings work with. */
export interface SettingsContext {
  readonly host: HostApi;
  readonly settings: Settings;
  readonly providers: ProviderSource;
  readonly tester: ProviderTester;
}
