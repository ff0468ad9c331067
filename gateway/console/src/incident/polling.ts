import type { Incident } from '@tocsin/sdk';
import { useEffect, useRef } from 'react';
import { refresh, refreshExactly, useAccess, useGet } from '../api/hooks.ts';

/** Milliseconds between two reads. */
const INTERVAL = 15_000;

/** Reads a restricted incident again and again, while the page is visible, for those who get no events of it. */
export function usePolling({ id, restricted, revision }: Incident): void {
  const { user, seesAllRestricted } = useAccess();
  const path = `/incidents/${id}`;
  const enabled = restricted && user !== undefined && !seesAllRestricted;
  const { dataUpdatedAt } = useGet(path, { enabled, every: INTERVAL });
  const shownRevision = useRef<number>(undefined);
  useEffect(() => {
    const before = shownRevision.current;
    shownRevision.current = revision;
    if (!enabled || before === undefined) return;
    // Follow-ups have revisions of their own.
    void (before === revision
      ? refreshExactly(new Set([`${path}/follow-ups`, `${path}/postmortem`]))
      : refresh(`${path}/`));
  }, [enabled, path, revision, dataUpdatedAt]);
}
