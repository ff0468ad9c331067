import { parseArgs } from 'node:util';
import { ATTACKS, findAttack, SHORT_ATTACKS } from './registry.ts';
import type { Mode } from '../systems/local-harness.ts';
import type { Timing } from './suite.ts';

export const USAGE = `npm run attacks -- [options]

Attacks a running system with ordinary API keys, and shows what other workspaces notice of it.

  --only NAME     run only this attack; may be repeated
  --mode MODE     only services (separate processes) or only embedded (one process); default: one after the other
  --short         the form for tests: every attack for about a second
  --every MS      the time between two requests of one kind that the victims make (default: 1000; with --short 200)
  --seconds N     the time of each attack (default: 15; with --short 1)
  --json          print the measurements as JSON
  --list          list the attacks
  --help          show this text`;

const FULL: Timing = {
  every: 1_000,
  before: 5_000,
  attack: 15_000,
  grace: 8_000,
  during: 8_000,
  recovery: 20_000,
  after: 3_000,
};
const SHORT: Timing = {
  every: 200,
  // Only the judgement of times needs it.
  before: 0,
  attack: 1_000,
  grace: 1_000,
  during: 1_000,
  recovery: 20_000,
  after: 250,
};

const MODES: readonly Mode[] = ['services', 'embedded'];

export type Options = ReturnType<typeof readOptions>;

/** @throws Error with a one-line message */
export function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      mode: { type: 'string' },
      short: { type: 'boolean', default: false },
      every: { type: 'string' },
      seconds: { type: 'string' },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const timing = values.short ? SHORT : FULL;
  return {
    /** How the system runs. */
    modes: values.mode === undefined ? MODES : [modeOf(values.mode)],
    attacks: values.only?.map(findAttack) ?? (values.short ? SHORT_ATTACKS : ATTACKS),
    timing: {
      ...timing,
      ...(values.every !== undefined && { every: positive('--every', values.every) }),
      ...(values.seconds !== undefined && { attack: positive('--seconds', values.seconds) * 1_000 }),
    },
    isShort: values.short,
    json: values.json,
    /** Do only this. */
    show: values.help ? 'help' : values.list ? 'list' : undefined,
  };
}

function modeOf(text: string): Mode {
  const mode = MODES.find((each) => each === text);
  if (mode === undefined) throw new Error(`--mode: must be ${MODES.join(' or ')}`);
  return mode;
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number <= 0) throw new Error(`${name}: must be a positive number`);
  return number;
}
