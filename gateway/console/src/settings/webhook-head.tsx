import { type ReactNode, useEffect } from 'react';
import { classes } from '../ui/button.tsx';
import ui from '../ui/ui.module.css';
import css from './deliveries.module.css';

/** The head of a page below the list of webhooks. */
export function Head({
  back,
  title,
  facts,
  actions,
}: {
  /** The link to the page above. */
  back: ReactNode;
  title: string;
  facts?: ReactNode;
  actions?: ReactNode;
}) {
  useEffect(() => void (document.title = `${title} · Tocsin`), [title]);
  return (
    <>
      {back}
      <header className={ui.pageHead}>
        <div>
          <h1 className={css.name}>{title}</h1>
          {facts && <p className={classes(ui.facts, ui.lead)}>{facts}</p>}
        </div>
        {actions && <div className={ui.row}>{actions}</div>}
      </header>
    </>
  );
}
