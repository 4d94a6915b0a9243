// @ts-check
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createBuild } from './build.js';
import { root } from './files.js';

/** `npm run build`: compiles the host and the plugins of the checkout, for file systems that nothing can be written to later. */
const { compileHost, compilePlugin } = createBuild();
await compileHost();
const plugins = realpathSync(join(root, 'plugins'));
for (const folder of readdirSync(plugins)) {
  const manifest = join(plugins, folder, 'plugin.json');
  if (!existsSync(manifest)) continue;
  const directory = realpathSync(join(plugins, folder));
  const { main = existsSync(join(directory, 'index.ts')) ? 'index.ts' : 'index.js' } = JSON.parse(
    readFileSync(manifest, 'utf8'),
  );
  await compilePlugin({ directory, entry: realpathSync(join(directory, main)) });
}
