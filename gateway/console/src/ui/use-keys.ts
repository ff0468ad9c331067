import { useEffect, useEffectEvent } from 'react';

/** Whether a key press belongs to a field and not to the page. */
const isTyping = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey ||
  metaKey ||
  altKey ||
  document.querySelector('dialog[open]') !== null ||
  (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** What keys do while nobody types. */
export function useKeys(handlers: Readonly<Record<string, (() => void) | false>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const handle = handlers[event.key];
    if (!handle || isTyping(event)) return;
    event.preventDefault();
    handle();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}
