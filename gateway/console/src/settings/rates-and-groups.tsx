import type { Configuration } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { Input } from '../ui/fields.tsx';
import { fromLocalInput, toLocalInput } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { AddButton, moved, MoveTools, RemoveButton } from '../ui/move-tools.tsx';
import ui from '../ui/ui.module.css';
import css from './configuration.module.css';

/** What the rows have besides what is sent: who they are while their values change. */
interface Identity {
  row: string;
}

export type Rate = Identity & { currency: string; rate: number | string; as_of: string };
export type Group = Identity & { id?: number; name: string };

export const ratesOf = ({ exchange_rates: rates }: Configuration): Rate[] =>
  rates.map((rate) => ({ ...rate, row: rate.currency }));
export const groupsOf = ({ timeline_groups: groups }: Configuration): Group[] =>
  groups.map((group) => ({ ...group, row: String(group.id) }));

interface ListProps<Row> {
  rows: readonly Row[];
  canEdit: boolean;
  onChange: (rows: Row[]) => void;
}

/** A list of lines, and the button that adds one. */
function Lines<Row extends Identity>({
  id,
  title,
  lead,
  rows,
  canEdit,
  onChange,
  fresh,
  children,
}: ListProps<Row> & {
  id: string;
  title: string;
  lead: string;
  fresh: () => Row;
  children: (row: Row, index: number, set: (change: Partial<Row>) => void) => ReactNode;
}) {
  return (
    <Card id={id} title={title}>
      <div className={css.list}>
        <p className={ui.muted}>{lead}</p>
        <ul className={css.rows}>
          {rows.map((row, index) => (
            <li key={row.row} className={css.line}>
              {children(row, index, (change) => onChange(rows.with(index, { ...row, ...change })))}
            </li>
          ))}
        </ul>
        {canEdit && <AddButton onAdd={() => onChange([...rows, fresh()])} />}
      </div>
    </Card>
  );
}

export const Rates = ({ rows, canEdit, onChange }: ListProps<Rate>) => (
  <Lines
    id="rates"
    title="Exchange rates"
    lead="What one unit of a currency is worth in the currency of your reports. Lists convert revenue at stake with it; a revenue without a rate is not added up."
    fresh={() => ({ row: crypto.randomUUID(), currency: '', rate: '', as_of: new Date().toISOString() })}
    {...{ rows, canEdit, onChange }}
  >
    {({ currency, rate, as_of: time, row }, index, set) => (
      <>
        <Input
          bare
          name={`exchange_rates.${index}.currency`}
          label={`Currency of rate ${index + 1}`}
          placeholder="EUR"
          maxLength={3}
          readOnly={!canEdit}
          value={currency}
          onValue={(text) => set({ currency: text.toUpperCase() })}
        />
        <Input
          bare
          name={`exchange_rates.${index}.rate`}
          label={`Worth of one ${currency}`}
          placeholder="1.08"
          inputMode="decimal"
          readOnly={!canEdit}
          value={rate}
          onValue={(text) => set({ rate: text })}
        />
        <Input
          bare
          name={`exchange_rates.${index}.as_of`}
          label={`When the rate of ${currency} was right`}
          type="datetime-local"
          readOnly={!canEdit}
          value={toLocalInput(time)}
          onValue={(text) => set({ as_of: fromLocalInput(text) ?? '' })}
        />
        {canEdit && (
          <RemoveButton
            label={`the rate of ${currency}`}
            onRemove={() => onChange(rows.filter((each) => each.row !== row))}
          />
        )}
      </>
    )}
  </Lines>
);

export const Groups = ({ rows, canEdit, onChange }: ListProps<Group>) => (
  <Lines
    id="groups"
    title="Timeline groups"
    lead="Events of timelines can be sorted into them, by the API and by imports. One that has events cannot be removed."
    fresh={() => ({ row: crypto.randomUUID(), name: '' })}
    {...{ rows, canEdit, onChange }}
  >
    {({ name }, index, set) => (
      <>
        <Input
          bare
          name={`timeline_groups.${index}.name`}
          label={`Timeline group ${index + 1}`}
          readOnly={!canEdit}
          value={name}
          onValue={(text) => set({ name: text })}
        />
        {canEdit && (
          <MoveTools
            label={name}
            isFirst={index === 0}
            isLast={index === rows.length - 1}
            onMove={(by) => onChange(moved(rows, index, by))}
            onRemove={() => onChange(rows.toSpliced(index, 1))}
          />
        )}
      </>
    )}
  </Lines>
);
