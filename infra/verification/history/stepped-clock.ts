/**
 * For `node --import 'stepped-clock.ts?<file>'`: the wall clock of the process is ahead by the number of milliseconds in
 * the file. As after a step of a machine's clock, timers run on.
 */
import { readFileSync, watchFile } from 'node:fs';

const file = decodeURIComponent(new URL(import.meta.url).search.slice(1));
const { now } = Date;
let ahead = 0;

class SteppedDate extends Date {
  constructor(...values: [] | [number]) {
    super(...(values.length === 0 ? ([now() + ahead] as const) : values));
  }

  static override now(): number {
    return now() + ahead;
  }
}

globalThis.Date = SteppedDate as DateConstructor;
const read = () => (ahead = Number(readFileSync(file, 'utf8')));
read();
watchFile(file, { interval: 250, persistent: false }, read);
