import { createStore } from '../ui/store.ts';

/** When the person last did something in any page of this browser, for all of them; milliseconds since 1970. */
const KEY = 'active';
/** A session without its person ends after this time; milliseconds. What a page requests by itself does not count. */
const IDLE = 12 * 3_600_000;
/** Before the end, somebody who is there can stay; milliseconds. */
const WARNING = 5 * 60_000;
/** Milliseconds within which one more key press is no news. */
const STEP = 5_000;

const active = createStore(Date.now());

function note(): void {
  const now = Date.now();
  if (now - active.get() < STEP) return;
  active.set(now);
  localStorage.setItem(KEY, String(now));
}

localStorage.setItem(KEY, String(active.get()));
for (const type of ['pointerdown', 'keydown', 'wheel']) {
  window.addEventListener(type, note, { passive: true, capture: true });
}
window.addEventListener('storage', ({ key, newValue }) => key === KEY && active.set(Number(newValue)));

/** Minutes until the session ends for want of activity, rounded up; undefined while there is much time. */
export function useMinutesLeft(now: number): number | undefined {
  const left = active.useValue() + IDLE - now;
  return left > WARNING ? undefined : Math.max(0, Math.ceil(left / 60_000));
}
