import type { ComponentProps } from 'react';
import { Icon, type IconName } from './icon.tsx';
import css from './ui.module.css';

type ButtonKind = 'normal' | 'primary' | 'quiet' | 'danger';

export const classes = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ');

export const buttonClass = (kind: ButtonKind = 'normal', small = false): string =>
  classes(css.button, kind !== 'normal' && css[kind], small && css.small);

export function Button({
  kind = 'normal',
  small = false,
  busy = false,
  icon,
  children,
  ...attributes
}: ComponentProps<'button'> & {
  kind?: ButtonKind;
  small?: boolean;
  busy?: boolean;
  icon?: IconName;
}) {
  return (
    <button
      type="button"
      {...attributes}
      // A disabled button would lose the focus.
      aria-disabled={busy || attributes['aria-disabled']}
      onClick={busy ? (event) => event.preventDefault() : attributes.onClick}
      className={buttonClass(kind, small)}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
