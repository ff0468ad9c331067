import { useEffect, useEffectEvent } from 'react';

/** Whether a key press belongs to a field and not to the page. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select'));

/** Whether a key press sends what is written, in a text of several lines, too. */
export const isSending = ({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>): boolean =>
  key === 'Enter' && (ctrlKey || metaKey);

/** Milliseconds within which a second key belongs to the first one. */
const SEQUENCE = 1_500;
let first = { key: '', at: 0 };

/** The name of a key press: `Control+k`, `?`, or `g i` after a `g`. */
function nameOf({ key, ctrlKey, metaKey, timeStamp }: KeyboardEvent): string {
  if (ctrlKey) return `Control+${key}`;
  if (metaKey) return `Meta+${key}`;
  return first.key === 'g' && timeStamp > first.at && timeStamp - first.at < SEQUENCE ? `g ${key}` : key;
}

window.addEventListener('keydown', ({ key, timeStamp }) => (first = { key, at: timeStamp }));

/** What keys do while nobody types; those with Control or Meta also while somebody does. */
export function useKeys(handlers: Readonly<Record<string, (() => void) | false>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const name = nameOf(event);
    const handle = handlers[name];
    const isModified = name.includes('+') && name.length > 1;
    if (!handle || event.altKey || (isModified ? document.querySelector('dialog[open]') : isTyping(event))) return;
    event.preventDefault();
    handle();
  });
  useEffect(() => {
    // Before the listener that remembers the key.
    const listener = (event: KeyboardEvent) => onKey(event);
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
}
