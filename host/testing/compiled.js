// @ts-check
import { createBuild } from '../build/build.js';

/** `#testing` for plugins outside of the host's own tests: a compiled host, which compiles the plugin as a site does. */

/** @import * as Testing from './index.ts' */

const { compilePlugin, importHost } = createBuild();
const { loadTesting } = await importHost('cli/run.ts');
/** @type {typeof Testing} */
const testing = await loadTesting();

export const { createFakeClock } = testing;

/** @type {typeof Testing.checkConformance} */
export const checkConformance = (init) => testing.checkConformance({ compilePlugin, ...init });

/** @type {typeof Testing.createTestHost} */
export const createTestHost = (init) => testing.createTestHost({ compilePlugin, ...init });
