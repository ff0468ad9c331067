import type { ReactNode } from 'react';
import css from './ui.module.css';

/** Views of a list, of which one is shown. */
export const Tabs = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className={css.tabs} role="group" aria-label={label}>
    {children}
  </div>
);

export const Tab = ({
  label,
  count,
  isCurrent,
  onChoose,
}: {
  label: string;
  count?: number | undefined;
  isCurrent: boolean;
  onChoose: () => void;
}) => (
  <button type="button" className={css.tab} aria-pressed={isCurrent} onClick={onChoose}>
    {label}
    {count !== undefined && <span className={css.count}>{count.toLocaleString('en')}</span>}
  </button>
);
