import { limitYoungGeneration } from './v8-heap.ts';

// Must run before other modules load; import nothing else above.
const liftLimit = limitYoungGeneration();
try {
  const { serve } = await import('./serve.ts');
  await serve();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
liftLimit();
