import { useSyncExternalStore } from 'react';
import { ApiError } from '../api/client.ts';
import { css } from './ui.tsx';

interface Message {
  id: number;
  text: string;
}

/** Milliseconds. */
const SHOWN = 6_000;

let messages: readonly Message[] = [];
let last = 0;
const listeners = new Set<() => void>();

const set = (next: readonly Message[]) => {
  messages = next;
  for (const listener of listeners) listener();
};

/** Says something for a few seconds, also to readers of the screen. */
export function say(text: string): void {
  const id = (last += 1);
  set([...messages.slice(-2), { id, text }]);
  setTimeout(() => set(messages.filter((message) => message.id !== id)), SHOWN);
}

export const sayError = (error: unknown): void =>
  say(error instanceof ApiError ? error.message : 'Something in the console failed. Reload the page.');

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => messages,
  );
  return (
    <div className={css.toast} role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <div key={id}>{text}</div>
      ))}
    </div>
  );
}
