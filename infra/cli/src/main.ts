import { runProgram } from './program.ts';

const ended = new AbortController();
process.once('SIGINT', () => ended.abort());
process.once('SIGTERM', () => ended.abort());
// The reader of a pipe may have seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { stdout, stderr, env, argv } = process;
const session = {
  // Only for those who read it: a pipe is put into a mode that its other readers would notice.
  get stdin() {
    return process.stdin;
  },
  ...{ stdout, stderr, env, signal: ended.signal },
};
process.exitCode = await runProgram(argv.slice(2), session);
