import { relative, resolve } from 'node:path';
import { buildClientBundle, findClientBundles, stopBuilding } from './client-bundles.ts';
import { root } from './files.ts';
import './module-hooks.ts';

/* `npm run build [-- folder...]`: builds the scripts and styles for browsers, of the host, its plugins, and plugins in other folders. */
const folders = ['host', 'plugins'].map((folder) => resolve(root, folder));
try {
  for (const folder of [...folders, ...process.argv.slice(2).map((given) => resolve(given))])
    for (const bundle of await findClientBundles(folder))
      for (const file of await buildClientBundle(bundle)) process.stdout.write(`Built ${relative('', file)}\n`);
} finally {
  await stopBuilding();
}
