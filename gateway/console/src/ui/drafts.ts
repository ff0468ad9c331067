import { createContext, useContext, useEffect, useState } from 'react';

/** The user whose drafts the page shows. */
export const DraftOwner = createContext(0);

const PREFIX = 'draft ';
const MAX_DRAFTS = 50;
/** Characters of one draft as JSON; the longest text of the API has 65,536. */
const MAX_LENGTH = 250_000;

interface Kept {
  at: number;
  value: unknown;
}

/** When somebody signed out in this browser; milliseconds. */
const LEFT_AT = 'drafts-left-at';

const keptKeys = () => Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));

function read(key: string): Kept | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '') as Kept;
  } catch {
    return undefined;
  }
}

/** Removes what was written in this tab before somebody signed out, in this tab or another one. */
function forgetLeft(): void {
  const leftAt = Number(localStorage.getItem(LEFT_AT));
  for (const key of keptKeys()) if ((read(key)?.at ?? 0) <= leftAt) sessionStorage.removeItem(key);
}
forgetLeft();
window.addEventListener('storage', ({ key }) => key === LEFT_AT && forgetLeft());

/** Removes all drafts of this browser: whoever signs out leaves nothing behind. */
export function forgetDrafts(): void {
  localStorage.setItem(LEFT_AT, String(Date.now()));
  forgetLeft();
}

/** Removes the drafts whose names begin with a word. */
export function forgetDraftsOf(word: string): void {
  for (const key of keptKeys()) if (key.split(' ')[2] === word) sessionStorage.removeItem(key);
}

function forgetOldest(): boolean {
  const [oldest] = keptKeys().sort((a, b) => (read(a)?.at ?? 0) - (read(b)?.at ?? 0));
  if (oldest !== undefined) sessionStorage.removeItem(oldest);
  return oldest !== undefined;
}

function keep(key: string, value: unknown): void {
  sessionStorage.removeItem(key);
  if (value === undefined) return;
  const text = JSON.stringify({ at: Date.now(), value } satisfies Kept);
  if (text.length > MAX_LENGTH) return;
  while (keptKeys().length >= MAX_DRAFTS) forgetOldest();
  for (;;) {
    try {
      sessionStorage.setItem(key, text);
      return;
    } catch {
      // The tab has no more room.
      if (!forgetOldest()) return;
    }
  }
}

/**
 * What the user has written and not sent, by a name. It is kept in the tab, so that it survives a reload, other pages and
 * the end of the session, unless they sign out. `undefined` is none, and forgets it.
 */
export function useDraft<Value>(name: string) {
  const key = `${PREFIX}${useContext(DraftOwner)} ${name}`;
  const [value, setValue] = useState(() => read(key)?.value as Value | undefined);
  const set = (next: Value | undefined) => {
    keep(key, next);
    setValue(next);
  };
  return [value, set] as const;
}

export const hasDrafts = (): boolean => keptKeys().length > 0;

/** Removes what other users have written in this tab. */
export function useOnlyDraftsOf(owner: number | undefined): void {
  useEffect(() => {
    if (owner === undefined) return;
    for (const key of keptKeys()) if (!key.startsWith(`${PREFIX}${owner} `)) sessionStorage.removeItem(key);
  }, [owner]);
}
