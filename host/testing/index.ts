/** For tests of plugins: a whole host in memory, and a fake clock. */
export * from './fake-clock.ts';
export * from './test-host.ts';
