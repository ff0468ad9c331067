/**
 * `sign-in` is how people get a session, and how it ends. They follow a link that works once, sign in by the provider
 * of their organization, or paste an API token; if another user is signed in, they are asked before that one is signed
 * out. A session ends when somebody ends it, and after 12 hours in which nobody has used the browser, which the page
 * announces five minutes before. Whoever was signed out sees the ways in, and is back on the same page afterwards. The
 * session is a cookie that no script can read; this file begins and ends it. `connect-agent.tsx` asks whether a program
 * may act for whoever is signed in.
 */
import { TocsinError } from '@tocsin/sdk';
import { useMutation } from '@tanstack/react-query';
import { forgetUser } from '../api/browser-user.ts';
import { tocsin, write } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';
import { refresh } from '../api/hooks.ts';
import { forgetDrafts } from '../ui/drafts.ts';

/** Where the gateway begins sessions. */
const PATH = '/app/session';

/**
 * Begins a session with the token of a link; without one, with the link that a cookie has.
 * @param replaces whether the session of another user is replaced
 * @throws TocsinError 409 with `signed_in` and `link`, the two users, unless it is
 */
export async function signIn(token: string | undefined, { replaces }: { replaces: boolean }): Promise<void> {
  // No header can have it.
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new TocsinError('authentication_required', 'The token is not valid', { status: 401 });
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const query = { replace: replaces || undefined };
  await tocsin.request('POST', PATH, { query, headers }).catch((error: unknown) => {
    throw failureOf(error);
  });
  forgetUser();
}

/** What the address says to everybody. */
export interface WaysIn {
  /** The name of the workspace; null where none is in use. */
  workspace: string | null;
  /** The host of the provider by which people sign in. */
  provider: string | null;
}

/** @returns undefined if the server does not say it */
export async function readWaysIn(): Promise<WaysIn | undefined> {
  try {
    return (await tocsin.request('GET', PATH)).body as WaysIn;
  } catch {
    return undefined;
  }
}

/** Ends a session. In the browser that its person signs out of, nothing stays that they have written. */
export const useEndSession = () =>
  useMutation<void, TocsinError, { id: number; current: boolean }>({
    mutationFn: async ({ id, current }) => {
      await write({ path: `/settings/sessions/${id}/revoke` }).catch((error: unknown) => {
        const hasEnded = current && failureOf(error).status === 401;
        if (!hasEnded) throw error;
      });
      if (current) forgetDrafts();
    },
    onSuccess: async () => refresh('/'),
  });

/** Has the address of the page from which this tab was signed out. */
const LEFT = 'left';

export const rememberPage = (): void => sessionStorage.setItem(LEFT, location.pathname + location.search);
export const forgetPage = (): void => sessionStorage.removeItem(LEFT);

/** Goes back to the page from which this tab was signed out, if whoever signs in has asked for no other one. */
export function returnToPage(): void {
  const left = sessionStorage.getItem(LEFT);
  if (left !== null && /^\/app\/?$/.test(location.pathname)) window.history.replaceState(null, '', left);
}
