/** `npm run -s dead-letters -- list|show|replay|discard`: what consumers could not take, and what to do with it. */
import { environment } from '../environment.ts';
import { runDeadLetters } from './run-dead-letters.ts';

try {
  console.log(await runDeadLetters(process.argv.slice(2), environment()));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
