import type { ReactNode } from 'react';
import { classes } from './button.tsx';
import css from './ui.module.css';

/** How a column is shown: as the head of the row, or as a picture of what other columns say. */
interface ColumnStyle {
  className?: string | undefined;
  kind?: 'head' | 'picture';
}

export type Columns<Row> = readonly (readonly [name: string, cell: (row: Row) => ReactNode, style?: ColumnStyle])[];

export const NUMBER: ColumnStyle = { className: css.number };

/**
 * A table; the last column has actions if `actions` is given. With a `label` it is one on a phone, too, which the keyboard can
 * scroll; otherwise each row becomes a block there.
 */
export function Table<Row>({
  columns,
  rows,
  keyOf,
  actions,
  label,
}: {
  columns: Columns<Row>;
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  actions?: ((row: Row) => ReactNode) | false | undefined;
  label?: string;
}) {
  return (
    <div className={css.tableWrap} {...(label !== undefined && { role: 'region', 'aria-label': label, tabIndex: 0 })}>
      <table className={classes(css.table, label === undefined && css.blocks)}>
        <thead>
          <tr>
            {columns.map(([name, , { className, kind } = {}]) =>
              kind === 'picture' ? (
                <td key={name} className={className} aria-hidden="true" />
              ) : (
                <th key={name} scope="col" className={kind === 'head' ? undefined : className}>
                  {name}
                </th>
              ),
            )}
            {actions && (
              <th scope="col">
                <span className={css.hidden}>Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(([name, cell, { className, kind } = {}]) =>
                kind === 'head' ? (
                  <th key={name} scope="row" className={className}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} className={className} data-label={name} aria-hidden={kind === 'picture' || undefined}>
                    {cell(row)}
                  </td>
                ),
              )}
              {actions && <td className={css.actionsCell}>{actions(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A name with what explains it below. */
export const Named = ({ name, about }: { name: ReactNode; about?: ReactNode }) => (
  <>
    <span className={css.strong}>{name}</span>
    {about && <p className={css.muted}>{about}</p>}
  </>
);
