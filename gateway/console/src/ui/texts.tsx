import type { ReactNode } from 'react';
import { classes } from './button.tsx';
import { formatAgo, formatTime, useNow } from './format.ts';
import css from './ui.module.css';

/** Why something failed; screen readers say it at once. */
export const Fault = ({ children }: { children: ReactNode }) =>
  children && (
    <p role="alert" className={css.fault}>
      {children}
    </p>
  );

export const Badge = ({
  tone = 'plain',
  children,
}: {
  tone?: 'good' | 'warn' | 'bad' | 'plain';
  children: ReactNode;
}) => <span className={classes(css.badge, css[tone])}>{children}</span>;

/** How long ago a time was; the exact time is its title. */
export function Ago({ time, none = 'never' }: { time: string | null | undefined; none?: string }) {
  const now = useNow();
  if (time === null || time === undefined) return <span className={css.muted}>{none}</span>;
  return (
    <time dateTime={time} title={formatTime(time)}>
      {formatAgo(time, now)}
    </time>
  );
}
