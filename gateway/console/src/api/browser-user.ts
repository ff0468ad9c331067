/** Has the signed-in user, for all pages of this browser. */
const USER = 'user';
let userOfPage: string | undefined;

/** Tells other pages who is signed in. This page reloads if it was somebody else's. */
export function showUser(id: number): void {
  if (userOfPage !== undefined && userOfPage !== String(id)) window.location.reload();
  userOfPage = String(id);
  localStorage.setItem(USER, userOfPage);
}

/** Tells other pages that somebody signs in. */
export const forgetUser = (): void => localStorage.removeItem(USER);

/** Reloads a page whose user is no longer the one of the browser. Returns whether it does. */
export function reloadForOther(): boolean {
  const isOther = userOfPage !== undefined && localStorage.getItem(USER) !== userOfPage;
  if (isOther) window.location.reload();
  return isOther;
}

for (const type of ['storage', 'pageshow', 'focus']) window.addEventListener(type, reloadForOther);
