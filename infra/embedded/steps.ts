import { styleText } from 'node:util';

/** Runs a part of a start, and prints a line with its name and the time that it took. */
export type Step = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

const NAME_WIDTH = 14;
/** Milliseconds between two lines of a step that takes long. */
const INTERVAL = 5_000;

/** Colours appear only in a terminal, and not with NO_COLOR. */
const dim = (text: string) => styleText('dim', text, { stream: process.stdout });

/** @param print receives each line */
export const stepPrinter =
  (print: (line: string) => void): Step =>
  async (name, work) => {
    const startedAt = performance.now();
    const seconds = () => (performance.now() - startedAt) / 1_000;
    const printStep = (text: string) => print(`${name.padEnd(NAME_WIDTH)}${dim(text)}`);
    const timer = setInterval(() => printStep(`${seconds().toFixed(0)} s ...`), INTERVAL);
    try {
      const result = await work();
      printStep(`${seconds().toFixed(1)} s`);
      return result;
    } finally {
      clearInterval(timer);
    }
  };
