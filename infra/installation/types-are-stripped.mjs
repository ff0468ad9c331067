// Runs before everything in an image (`node --import`), where strip-types.mjs has stripped the types already: loads
// sources as they are. Node would load its compiler for them, which takes 24 MiB in each process.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) =>
    url.startsWith('file:') && url.endsWith('.ts')
      ? { format: 'module', source: readFileSync(new URL(url)), shortCircuit: true }
      : next(url, context),
});
