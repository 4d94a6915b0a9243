import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bindings } from './chroma-server.ts';

/** The last one that runs with glibc below 2.38. */
const chromaPackage = 'chromadb-js-bindings-linux-x64-gnu@1.0.5';

/** Before `npm run test:chroma`: brings a real Chroma, 417 MB, into a folder of its own, once. */
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error(`A real Chroma is to be had for Linux on x64 alone, not for ${process.platform} on ${process.arch}.`);
  process.exit(1);
}
if (!existsSync(bindings)) {
  const folder = join(import.meta.dirname, '../../node_modules/.cache/chroma');
  mkdirSync(folder, { recursive: true });
  console.log(`Installing ${chromaPackage} into node_modules/.cache/chroma (417 MB, once).`);
  execFileSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', folder, chromaPackage],
    { stdio: 'inherit' },
  );
}
