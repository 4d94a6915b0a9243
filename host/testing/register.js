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

const limit = Number(new URL(import.meta.url).searchParams.get('seconds'));
// The process with the option runs another one for each file.
if (limit > 0 && !process.execArgv.includes('--test')) (await import('./time-limit.js')).endAfter(limit);
