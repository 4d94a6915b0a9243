// @ts-check
// For tests of a plugin: node --import <host>/host/testing/register.js --test tests/*.test.ts
import '../sources/module-hooks.ts';

const limit = Number(new URL(import.meta.url).searchParams.get('seconds'));
// The process with the option runs another one for each file.
if (limit > 0 && !process.execArgv.includes('--test')) (await import('./time-limit.js')).endAfter(limit);
