import type { User } from '@tocsin/sdk';

/** From the one that may most, with what each may do. */
export const MAY = new Map<User['role'], string>([
  ['owner', 'Manages and deletes everything'],
  ['admin', 'Manages people and settings'],
  ['manager', 'Manages teams'],
  ['member', 'Manages nothing'],
  ['viewer', 'The lowest role'],
]);
export const ROLES = [...MAY.keys()];

export const SEATS = [
  ['responder', 'Responder', 'Changes incidents'],
  ['none', 'No seat', 'Reads incidents'],
] as const;

export const STATES = [
  ['active', 'Active'],
  ['deactivated', 'Deactivated'],
] as const;

/** The people whom the list shows, as the address has it: by default all. */
export interface UsersSearch {
  q?: string;
  role?: User['role'];
  seat?: User['seat'];
  state?: (typeof STATES)[number][0];
  /** They are members of it. */
  team?: number;
}

/** Anybody may write an address: what it does not understand is left out. */
export function readUsersSearch({ q, role, seat, state, team }: Record<string, unknown>): UsersSearch {
  const [knownRole, [knownSeat] = [], [knownState] = []] = [
    ROLES.find((each) => each === role),
    SEATS.find(([each]) => each === seat),
    STATES.find(([each]) => each === state),
  ];
  return {
    // The router reads a text of digits as a number.
    ...((typeof q === 'string' || typeof q === 'number') && { q: String(q).slice(0, 200) }),
    ...(knownRole && { role: knownRole }),
    ...(knownSeat && { seat: knownSeat }),
    ...(knownState && { state: knownState }),
    ...(Number.isSafeInteger(team) && { team: Number(team) }),
  };
}
