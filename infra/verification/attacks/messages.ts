import type { AttackResult } from './attack.ts';
import type { Workspace } from '../systems/workspaces.ts';
import type { Fault } from '../systems/faults.ts';
import type { Route, Victim } from './routes.ts';
import type { TargetAddress } from '../systems/target.ts';

/** To the victims' process. */
export type ToVictims =
  | { kind: 'victims'; gateway: { host: string; port: number }; victims: readonly Victim[]; every: number }
  | { kind: 'observe'; id: number; routes: readonly Route[] }
  | { kind: 'end'; id: number };

/** What the victims noticed in one observation. */
export interface VictimSummary {
  requests: number;
  /** The number of requests that did not succeed, by status or error. */
  errors: Record<string, number>;
  /** Milliseconds, of all requests; failed ones count until they failed. */
  p50: number;
  p99: number;
  /** Milliseconds from the response of a create to its event in the feed, p99; missing if nothing was created. */
  lag?: number;
  /** The longest delay of the event loop of their process, which does little: what every process here waits for; milliseconds. */
  eventLoop: number;
}

/** From the victims' process. */
export interface FromVictims {
  id: number;
  summary: VictimSummary;
}

/** To an attacker's process. */
export type ToAttacker =
  | { kind: 'prepare'; attack: string; target: TargetAddress; isShort: boolean }
  /** Attack for this time; then wait for responses for this time. Milliseconds. */
  | { kind: 'begin'; time: number; grace: number }
  | { kind: 'answer'; id: number; answer: Answers[Question['about']] };

/** What an attacker's process asks of the main process. */
export type Question = { about: 'workspace' } | { about: 'break'; fault: Fault } | { about: 'heal' };

export interface Answers {
  workspace: Workspace;
  /** Whether it was possible. */
  break: boolean;
  heal: boolean;
}

/** From an attacker's process. */
export type FromAttacker =
  | { kind: 'prepared' }
  | { kind: 'question'; id: number; question: Question }
  | { kind: 'done'; result: AttackResult };
