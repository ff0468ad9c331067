import { shareExceeded } from '../errors/errors.ts';

/** Four of the largest pages: more that clients of one workspace do not read would only be memory. */
const MAX_OF_WORKSPACE = 16_777_216;
/** Eight workspaces with all of their share; a fraction of the memory that a process has at least. */
const MAX_IN_ALL = 134_217_728;
/** Smaller responses are never refused: the network takes them at once. */
export const ALWAYS_SENT = 65_536;

/** The part of a response that is not written to its connection yet. */
export interface UnsentResponse {
  /** These bytes were written, or will never be. */
  release(bytes: number): void;
  /** The response has ended, however much of it was written. */
  end(): void;
}

/** Counts the bytes of responses that wait for their clients to read them (contract: Unread responses). */
export interface UnsentBytes {
  readonly total: number;
  /**
   * Counts a response.
   * @throws DomainError `rate_limited` if the response may be refused, and it and those that wait already are too large
   */
  add(response: { workspaceId: number | undefined; bytes: number; mayBeRefused: boolean }): UnsentResponse;
  /** @throws DomainError `rate_limited` if a response of this size would be refused now */
  check(workspaceId: number, bytes: number): void;
}

export function unsentBytes({ ofWorkspace = MAX_OF_WORKSPACE, inAll = MAX_IN_ALL } = {}): UnsentBytes {
  const byWorkspace = new Map<number, number>();
  let total = 0;
  const change = (workspaceId: number | undefined, bytes: number) => {
    total += bytes;
    if (workspaceId === undefined) return;
    const held = (byWorkspace.get(workspaceId) ?? 0) + bytes;
    if (held === 0) byWorkspace.delete(workspaceId);
    else byWorkspace.set(workspaceId, held);
  };
  /** A response alone always passes: a row of an earlier release may be larger than any limit. */
  const exceeds = (held: number, bytes: number, limit: number) => held > 0 && held + bytes > limit;
  const check = (workspaceId: number | undefined, bytes: number) => {
    const held = workspaceId === undefined ? 0 : (byWorkspace.get(workspaceId) ?? 0);
    if (bytes > ALWAYS_SENT && (exceeds(held, bytes, ofWorkspace) || exceeds(total, bytes, inAll))) {
      throw shareExceeded('Too many responses wait for their clients to read them', { reason: 'unsent_bytes' });
    }
  };
  return {
    get total() {
      return total;
    },
    check,
    add({ workspaceId, bytes, mayBeRefused }) {
      if (mayBeRefused) check(workspaceId, bytes);
      let left = bytes;
      change(workspaceId, bytes);
      const release = (amount: number) => {
        const released = Math.min(amount, left);
        left -= released;
        change(workspaceId, -released);
      };
      return { release, end: () => release(left) };
    },
  };
}

/** What all servers of this process hold together: the embedded app has several. */
export const processUnsentBytes = unsentBytes();
