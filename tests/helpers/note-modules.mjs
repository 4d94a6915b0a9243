import { register } from 'node:module';

/** For `--import`: every module that the process loads is noted in the file MODULES_FILE, one address a line. */
register('./note-modules-hooks.mjs', import.meta.url, { data: { file: process.env.MODULES_FILE } });
