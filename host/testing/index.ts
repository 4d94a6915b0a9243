/** The door for tests of plugins: a whole host in memory, and a clock that is moved by hand. */
export * from './fake-clock.ts';
export * from './test-host.ts';
