import { useEffect, useEffectEvent } from 'react';
import { createStore } from './store.ts';

const STORED = 'single-keys';

/** Whether keys without Control do something; they are switched off where speech or a slip presses them (WCAG 2.1.4). */
export const singleKeys = createStore(localStorage.getItem(STORED) !== 'off');

export function setSingleKeys(areOn: boolean): void {
  singleKeys.set(areOn);
  localStorage.setItem(STORED, areOn ? 'on' : 'off');
}

/** Whether a key press belongs to a field and not to the page. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  document.querySelector('dialog[open]') !== null ||
  (target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select'));

/** Whether a key press belongs to an input method, such as the Enter that ends a word of it. */
export const isComposing = (event: KeyboardEvent): boolean =>
  // Safari ends the composition before it reports the key, and only the deprecated code says so.
  // oxlint-disable-next-line typescript/no-deprecated
  event.isComposing || event.keyCode === 229;

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

/** What the keys of all parts of the page do now. */
const shown = new Set<(key: string) => (() => void) | false | undefined>();

/** What a key does now, if it does anything. */
export function handlerOf(key: string): (() => void) | undefined {
  for (const find of shown) {
    const handle = find(key);
    if (handle) return handle;
  }
  return undefined;
}

/** What keys do while nobody types; those with Control or Meta also while somebody does. */
export function useKeys(handlers: Readonly<Record<string, (() => void) | false>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const name = nameOf(event);
    const handle = handlers[name];
    const isModified = name.includes('+') && name.length > 1;
    if (!handle || event.altKey || isComposing(event)) return;
    if (isModified ? document.querySelector('dialog[open]') : !singleKeys.get() || isTyping(event)) return;
    event.preventDefault();
    handle();
  });
  const findHandler = useEffectEvent((key: string) => handlers[key]);
  useEffect(() => {
    const find = (key: string) => findHandler(key);
    shown.add(find);
    return () => void shown.delete(find);
  }, []);
  useEffect(() => {
    // Before the listener that remembers the key.
    const listener = (event: KeyboardEvent) => onKey(event);
    window.addEventListener('keydown', listener, { capture: true });
    return () => window.removeEventListener('keydown', listener, { capture: true });
  }, []);
}
