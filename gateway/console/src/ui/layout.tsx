import { type ReactNode, useEffect } from 'react';
import css from './ui.module.css';

export const Page = ({
  title,
  lead,
  guide,
  actions,
  children,
}: {
  title: string;
  lead?: string | undefined;
  /** The part of the reference that explains the page. */
  guide?: string | undefined;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  useEffect(() => void (document.title = `${title} · Tocsin`), [title]);
  const link = guide && (
    <a href={`/docs#tag/${guide}`} target="_blank" rel="noreferrer" className={css.guide}>
      How it works
    </a>
  );
  return (
    <div className={css.page}>
      <header className={css.pageHead}>
        <div>
          <div className={css.row}>
            <h1>{title}</h1>
            {!lead && link}
          </div>
          {lead && (
            <p className={css.lead}>
              {lead} {link}
            </p>
          )}
        </div>
        {actions && <div className={css.row}>{actions}</div>}
      </header>
      {children}
    </div>
  );
};

export const Card = ({
  title,
  actions,
  children,
  padded = false,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  padded?: boolean;
}) => (
  <section className={css.card} aria-label={title}>
    {title && (
      <div className={css.cardHead}>
        <h2>{title}</h2>
        {actions && <div className={css.row}>{actions}</div>}
      </div>
    )}
    {padded ? <div className={css.cardBody}>{children}</div> : children}
  </section>
);
