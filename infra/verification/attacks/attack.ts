import type pg from 'pg';
import type { AppName } from '../../installation/apps.ts';
import type { Fault } from '../systems/faults.ts';
import type { ReceiverName, ReceiverPath } from '../systems/receiver-urls.ts';
import type { Outcome, ReceivedAnswer, SentRequest } from '../systems/send.ts';
import type { Workspace } from '../systems/workspaces.ts';
import type { Route } from './routes.ts';

/** An attack that one workspace, client or broken connection can make. */
export interface Attack {
  readonly name: string;
  /** What the attacker does, in one line. */
  readonly what: string;
  /** How the attacker's requests may end, besides with 429, which is always allowed. */
  readonly expects: readonly Outcome[];
  /** What the victims do meanwhile; by default they list, read and create incidents. */
  readonly victims?: readonly Route[];
  /** The app whose process the attack stops: a stopped process has no event loop that could be blocked. */
  readonly stops?: AppName;
  /** Milliseconds that the slowest requests of the victims may take, if a documented deadline allows more than usual. */
  readonly deadline?: { readonly milliseconds: number; readonly reason: string };
  /** Milliseconds that the events of the victims may take to their feeds, if the attack stops what records them. */
  readonly feed?: { readonly milliseconds: number; readonly reason: string };
  /** Not in the short form, which has a similar attack, or no time for it. */
  readonly onlyFull?: boolean;
  /** Prepares the attack, calls `context.begin()`, and attacks until `context.isOver`. @param workspace the attacker's */
  run(context: AttackContext, workspace: Workspace): Promise<void>;
}

/** What an attack works with. Everything before `begin` is preparation: it is neither counted nor measured. */
export interface AttackContext {
  readonly isShort: boolean;
  readonly gateway: { readonly host: string; readonly port: number };
  /** A connection to the system's database as its administrator, for data that takes too long to create by requests. */
  readonly sql: pg.Client;
  /** The first value, or the second one in the short form. */
  choose<Value>(full: Value, short: Value): Value;
  createWorkspace(): Promise<Workspace>;
  createWorkspaces(count: number): Promise<Workspace[]>;
  /** Starts the measurement and the attack's time. */
  begin(): Promise<void>;
  /** Whether the attack's time is over: send nothing more. */
  readonly isOver: boolean;
  /** Resolves after this time, or when the attack's time is over. */
  pause(milliseconds: number): Promise<void>;
  untilOver(): Promise<void>;
  /** Sends a request, counts how it ends, and discards the body except its beginning. */
  send(workspace: Workspace, request: SentRequest): Promise<ReceivedAnswer>;
  /** Counts a request that is sent in another way. */
  countRequest(): void;
  /** Counts the end of such a request. */
  countOutcome(outcome: Outcome): void;
  /** Records a violation unless `ok`. `timed`: it depends on the speed of the machine. */
  check(ok: boolean, what: string, options?: { timed?: boolean }): void;
  /** The address of a receiver on loopback that the system accepts; the path selects how it responds. */
  receiverUrl(receiver: ReceiverName, path: ReceiverPath): string;
  /** The address of one of fifty that never answer. */
  deadUrl(nth: number): string;
  /** Breaks a part of the system until `heal` or the end of the attack. Returns false if that is impossible here. */
  breakPart(fault: Fault): Promise<boolean>;
  heal(): Promise<void>;
  /** Reports that this machine does not allow the attack. */
  skip(reason: string): void;
}

/** What the attacker's process reports at the end of an attack. */
export interface AttackResult {
  requestCount: number;
  /** The number of requests by outcome. */
  outcomes: Record<string, number>;
  /** The first answer of each outcome: method, path and the beginning of the body. */
  examples: Record<string, string>;
  violations: { what: string; timed: boolean }[];
  skipped: string | undefined;
  /** Why the attack ended early; an error of the suite. */
  error: string | undefined;
}

export const newResult = (): AttackResult => ({
  requestCount: 0,
  outcomes: {},
  examples: {},
  violations: [],
  skipped: undefined,
  error: undefined,
});
