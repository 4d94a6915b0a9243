/** For tests of plugins: a whole host in memory, a fake clock, and what every plugin should stand. */
export * from './conformance.ts';
export * from './fake-clock.ts';
export * from './test-host.ts';
export type { SignedIn, TestPage } from './sign-in.ts';
