import type { EventWorkspace } from '@tocsin/contracts';
import { type Caller, eventOrigin } from '@tocsin/resources';

/** The user's ID as text, as string fields and the changelog store it. */
export const actorOf = ({ principal }: Caller) => String(principal.user_id);

/** The author of a change, for the changelog and the event. */
export interface Author {
  /** A user's ID, or the name of a part of the system, such as `slack`. */
  actor: string;
  workspace: EventWorkspace;
  /** The request that caused the change. */
  requestId: string;
}

export const authorOf = (caller: Caller): Author => ({ actor: actorOf(caller), ...eventOrigin(caller) });
