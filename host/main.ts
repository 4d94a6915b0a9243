import { keepYoungGenerationSmall } from './young-generation.ts';

// Before anything else is loaded, for loading is what it is about: nothing more is imported above.
const letGrow = keepYoungGenerationSmall();
try {
  const { serve } = await import('./serve.ts');
  await serve();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
letGrow();
