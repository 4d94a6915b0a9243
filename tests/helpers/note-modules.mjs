import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** For `--import`: at its end, the process writes every module that it loaded to the file MODULES_FILE, one address a line. */
const loaded = [];
registerHooks({
  load(url, context, nextLoad) {
    loaded.push(url);
    return nextLoad(url, context);
  },
});
process.on('exit', () => writeFileSync(process.env.MODULES_FILE, loaded.join('\n')));
