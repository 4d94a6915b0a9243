// Begins outbound-thread.ts in a thread: `--import tsx` reads TypeScript for the main thread alone.
import { register } from 'tsx/esm/api';

register();
await import('./outbound-thread.ts');
