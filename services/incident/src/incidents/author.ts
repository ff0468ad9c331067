import type { EventWorkspace, Principal } from '@tocsin/contracts';
import { type Caller, eventOrigin } from '@tocsin/resources';

/** The user's ID as text, as string fields and the changelog store it. */
export const actorOf = ({ principal }: Caller) => String(principal.user_id);

/** The author of a change, for the changelog and the event. */
export interface Author {
  /** A user's ID, or the name of a part of the system, such as `slack`. */
  actor: string;
  /** The API key that was used, as it is named at this moment; undefined if the system acts. */
  key: Principal['key'];
  workspace: EventWorkspace;
  /** The request that caused the change. */
  requestId: string;
}

export const authorOf = (caller: Caller): Author => ({
  actor: actorOf(caller),
  key: caller.principal.key,
  ...eventOrigin(caller),
});

/** Who made a change, as its entry in the changelog says it. */
export const recordedActor = ({ actor, key }: Author) => ({
  actor,
  keyName: key?.name ?? null,
  keyPrefix: key?.prefix ?? null,
});
