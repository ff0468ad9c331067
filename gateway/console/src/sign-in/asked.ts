/** Where clients send people (contract: Sessions). */
const PAGE = '/app/authorize';
/** Has what a client asks for, as it came, while the person signs in in this tab. */
export const ASKED = 'asked';

/** Keeps what the address asks for: the router would write it in another way. */
export function keepRequest(): void {
  const { pathname, search } = window.location;
  if (pathname !== PAGE || search === '') return;
  sessionStorage.setItem(ASKED, search);
  window.history.replaceState(null, '', PAGE);
}
