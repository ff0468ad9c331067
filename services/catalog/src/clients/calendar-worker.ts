/** A worker thread that reads one calendar for each message that it gets; see `on-call-reader.ts`. */
import { parentPort } from 'node:worker_threads';
import { type ReceivedCalendar, readCalendar } from '../domain/calendar.ts';

// The parser warns of what it finds, with texts of the calendar.
Object.assign(console, { warn: () => undefined });

parentPort?.on('message', (calendar: ReceivedCalendar) => {
  let shifts;
  try {
    shifts = readCalendar(calendar) ?? null;
  } catch {
    // The parser throws whatever it does not understand.
    shifts = null;
  }
  parentPort?.postMessage(shifts);
});
parentPort?.postMessage('ready');
