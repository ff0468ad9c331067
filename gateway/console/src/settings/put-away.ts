import { createStore } from '../ui/store.ts';

const KEY = 'start';

/** Whether this browser no longer shows the first steps among the pages. */
export const isPutAway = createStore(localStorage.getItem(KEY) === 'away');

export function putAway(isAway: boolean): void {
  isPutAway.set(isAway);
  localStorage.setItem(KEY, isAway ? 'away' : 'shown');
}
