import type { ReactNode } from 'react';
import { css } from './ui.tsx';

export type Columns<Row> = readonly (readonly [name: string, cell: (row: Row) => ReactNode])[];

/** A table; the last column has actions if `actions` is given. */
export function Table<Row>({
  columns,
  rows,
  keyOf,
  actions,
}: {
  columns: Columns<Row>;
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  actions?: ((row: Row) => ReactNode) | false | undefined;
}) {
  return (
    <div className={css.tableWrap}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
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
              {columns.map(([name, cell]) => (
                <td key={name}>{cell(row)}</td>
              ))}
              {actions && <td className={css.right}>{actions(row)}</td>}
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
