import type { Configuration, IncidentRole, ServiceTier, Severity, WorkflowStatus } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { Check, Input } from '../ui/fields.tsx';
import { colourOf } from '../incidents/incident-labels.tsx';
import ui from '../ui/ui.module.css';
import css from './configuration.module.css';

export type Draft = Pick<Configuration, 'workflow_statuses' | 'severities' | 'service_tiers' | 'incident_roles'>;
export type ListName = keyof Draft;
/** An entry with what some lists have besides. */
export type Row = Pick<IncidentRole, 'key' | 'label'> &
  Partial<
    Pick<ServiceTier, 'is_default'> &
      Pick<WorkflowStatus, 'is_terminal' | 'color'> &
      Pick<Severity, 'min_score' | 'restricted'> &
      Pick<IncidentRole, 'description' | 'several_holders'>
  > & {
    /** Of an entry that is not stored yet. */
    id?: string;
  };

/** What is true or not of the entries of some lists, besides the default. */
const FLAGS: Partial<Record<ListName, { name: 'is_terminal' | 'restricted' | 'several_holders'; label: string }>> = {
  workflow_statuses: { name: 'is_terminal', label: 'Ends it' },
  severities: { name: 'restricted', label: 'Restricted' },
  incident_roles: { name: 'several_holders', label: 'Several people' },
};

/** The entries of a list of the configuration, which are changed, moved, added and removed. */
export function EntryList({
  name,
  rows,
  canEdit,
  onChange,
}: {
  name: ListName;
  rows: readonly Row[];
  canEdit: boolean;
  onChange: (rows: Row[]) => void;
}) {
  const set = (index: number, change: Partial<Row>) =>
    onChange(rows.with(index, { ...(rows[index] as Row), ...change }));
  /** Scores stay where they are: they fall with the place. */
  const move = (index: number, by: number) => {
    const row = rows[index] as Row;
    const moved = rows.toSpliced(index, 1).toSpliced(index + by, 0, row);
    onChange(moved.map((each, at) => ({ ...each, ...(name === 'severities' && { min_score: rows[at]?.min_score }) })));
  };
  const fresh = (): Row => ({
    ...{ id: crypto.randomUUID(), key: '', label: '' },
    ...(name === 'incident_roles' ? { description: '', several_holders: false } : { is_default: rows.length === 0 }),
    ...((name === 'workflow_statuses' || name === 'severities') && { color: colourOf(undefined) }),
    ...(name === 'severities' && { min_score: rows.at(-1)?.min_score ?? 0 }),
  });
  return (
    <>
      <ul className={css.rows}>
        {rows.map((row, index) => (
          <Entry
            key={row.id ?? row.key}
            list={name}
            index={index}
            row={row}
            canEdit={canEdit}
            onChange={(change) => set(index, change)}
            onDefault={() => onChange(rows.map((each, other) => ({ ...each, is_default: other === index })))}
          >
            <Tools
              label={row.label}
              isFirst={index === 0}
              isLast={index === rows.length - 1}
              onMove={(by) => move(index, by)}
              onRemove={() => onChange(rows.toSpliced(index, 1))}
            />
          </Entry>
        ))}
      </ul>
      {canEdit && (
        <div>
          <Button small icon="plus" onClick={() => onChange([...rows, fresh()])}>
            Add
          </Button>
        </div>
      )}
    </>
  );
}

interface EntryProps {
  list: ListName;
  index: number;
  row: Row;
  canEdit: boolean;
  onChange: (change: Partial<Row>) => void;
  onDefault: () => void;
  children: ReactNode;
}

function Entry({ list, index, row, canEdit, onChange, onDefault, children }: EntryProps) {
  const flag = FLAGS[list];
  return (
    <li className={css.row}>
      {row.color === undefined ? (
        <span />
      ) : (
        <input
          type="color"
          className={css.colour}
          aria-label={`Colour of ${row.label}`}
          disabled={!canEdit}
          value={colourOf(row.color)}
          onChange={({ target }) => onChange({ color: target.value })}
        />
      )}
      {row.id === undefined ? (
        <code>{row.key}</code>
      ) : (
        <Input
          bare
          name={`${list}.${index}.key`}
          label="Key"
          placeholder="key"
          value={row.key}
          onValue={(key) => onChange({ key })}
        />
      )}
      <Input
        bare
        name={`${list}.${index}.label`}
        label={`Name of ${row.key}`}
        readOnly={!canEdit}
        value={row.label}
        onValue={(label) => onChange({ label })}
      />
      <DefaultOrDescription {...{ list, index, row, canEdit, onChange, onDefault }} />
      {flag === undefined ? (
        <span />
      ) : (
        <Check
          label={flag.label}
          disabled={!canEdit}
          value={row[flag.name] === true}
          onValue={(value) => onChange({ [flag.name]: value })}
        />
      )}
      {canEdit && children}
    </li>
  );
}

/** Most lists have a default; roles have a description in its place. */
function DefaultOrDescription({ list, index, row, canEdit, onChange, onDefault }: Omit<EntryProps, 'children'>) {
  return row.is_default === undefined ? (
    <Input
      bare
      name={`${list}.${index}.description`}
      label={`What ${row.label} does`}
      placeholder="What they do"
      readOnly={!canEdit}
      value={row.description ?? ''}
      onValue={(description) => onChange({ description })}
    />
  ) : (
    <label className={ui.check}>
      <input type="radio" name={`${list}-default`} disabled={!canEdit} checked={row.is_default} onChange={onDefault} />
      Default
    </label>
  );
}

/** The buttons that move an entry in its list, and remove it. */
function Tools({
  label,
  isFirst,
  isLast,
  onMove,
  onRemove,
}: {
  label: string;
  isFirst: boolean;
  isLast: boolean;
  onMove: (by: number) => void;
  onRemove: () => void;
}) {
  return (
    <span className={css.tools}>
      {(
        [
          ['up', '↑', -1, isFirst],
          ['down', '↓', 1, isLast],
        ] as const
      ).map(([direction, arrow, by, isAtEnd]) => (
        <Button
          key={direction}
          kind="quiet"
          small
          // Not disabled: whoever moves with the keyboard would lose the focus at the end.
          aria-disabled={isAtEnd}
          aria-label={`Move ${label} ${direction}`}
          onClick={() => !isAtEnd && onMove(by)}
        >
          {arrow}
        </Button>
      ))}
      <Button kind="quiet" small icon="close" aria-label={`Remove ${label}`} onClick={onRemove} />
    </span>
  );
}
