/**
 * `ui` is what pages are made of: buttons, fields, dialogues, tables, cards, states, icons and formats, with the tokens
 * of colours and sizes. Nothing here knows the API or an incident: a component shows what it is given, and says by a
 * callback what somebody did. Dialogues are the browser's own, a form shows a refusal at the field that the refusal
 * names, and single keys do nothing while somebody types. What somebody writes is kept as a draft in the tab, by user,
 * until it is sent. This file has the frame of a page, and its cards.
 */
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
  id,
  actions,
  children,
  padded = false,
}: {
  title?: string;
  /** Where a link to it leads. */
  id?: string;
  actions?: ReactNode;
  children: ReactNode;
  padded?: boolean;
}) => (
  <section id={id} className={css.card} aria-label={title}>
    {title && (
      <div className={css.cardHead}>
        <h2>{title}</h2>
        {actions && <div className={css.row}>{actions}</div>}
      </div>
    )}
    {padded ? <div className={css.cardBody}>{children}</div> : children}
  </section>
);
