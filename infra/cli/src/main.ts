import { runProgram } from './program.ts';

const ended = new AbortController();
process.once('SIGINT', () => ended.abort());
process.once('SIGTERM', () => ended.abort());
// The reader of a pipe may have seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runProgram(process.argv.slice(2), { stdin, stdout, stderr, env, signal: ended.signal });
