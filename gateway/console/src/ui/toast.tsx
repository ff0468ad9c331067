import { createStore } from './store.ts';
import css from './ui.module.css';

interface Message {
  id: number;
  text: string;
}

/** Milliseconds. */
const SHOWN = 6_000;

const messages = createStore<readonly Message[]>([]);
let last = 0;

/** Says something for a few seconds, also to readers of the screen. */
export function say(text: string): void {
  const id = (last += 1);
  messages.set([...messages.get().slice(-2), { id, text }]);
  setTimeout(() => messages.set(messages.get().filter((message) => message.id !== id)), SHOWN);
}

export function Toasts() {
  return (
    <div className={css.toast} role="status" aria-live="polite">
      {messages.useValue().map(({ id, text }) => (
        <div key={id}>{text}</div>
      ))}
    </div>
  );
}
