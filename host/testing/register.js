// @ts-check
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createBuild } from '../build/build.js';

// For tests of a plugin: node --import <host>/host/testing/register.js --test tests/*.test.ts
process.setSourceMapsEnabled(true);
register('./module-hooks.js', import.meta.url, {
  data: {
    pluginApi: pathToFileURL(await createBuild().compilePluginApi()).href,
    testing: new URL('./compiled.js', import.meta.url).href,
    compiles: true,
  },
});

const limit = Number(process.env['PLUGIN_TEST_SECONDS']);
// Node sets it in the processes of the test files.
if (limit > 0 && process.env['NODE_TEST_CONTEXT'] !== undefined) (await import('./time-limit.js')).endAfter(limit);
