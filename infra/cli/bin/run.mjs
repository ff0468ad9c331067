// In the repository, Node runs the sources; an installed package has only what is built from them.
import { existsSync } from 'node:fs';
import { enableCompileCache, registerHooks } from 'node:module';

enableCompileCache();
const sources = new URL('../src/main.ts', import.meta.url);
if (existsSync(sources)) {
  const conditions = ['tocsin-source'];
  registerHooks({
    resolve: (name, context, next) => next(name, { ...context, conditions: [...context.conditions, ...conditions] }),
  });
  await import(sources.href);
} else await import('../dist/main.js');
