/** `npm run -s dead-letters -- list|show|replay|discard`: manages the messages that consumers could not handle. */
import { environment } from '../environment.ts';
import { runDeadLetters } from './run-dead-letters.ts';

try {
  console.log(await runDeadLetters(process.argv.slice(2), environment(), console.error));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
