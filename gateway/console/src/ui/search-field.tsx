import { useEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';
import css from './ui.module.css';

/** Milliseconds without a key until a search begins. */
const PAUSE = 250;

/** A search of a list; `/` goes to it. */
export function SearchField({
  label,
  value,
  onValue,
}: {
  label: string;
  value: string | undefined;
  onValue: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useState(value ?? '');
  const timer = useRef(0);
  useEffect(() => setTyped(value ?? ''), [value]);
  return (
    <label className={css.search}>
      <span className={css.hidden}>{label}</span>
      <Icon name="search" />
      <input
        type="search"
        placeholder="Search"
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(() => onValue(target.value.trim() || undefined), PAUSE);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </label>
  );
}
