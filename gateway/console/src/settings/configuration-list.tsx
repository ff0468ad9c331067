import type { Configuration, IncidentRole, ServiceTier, Severity, WorkflowStatus } from '@tocsin/sdk';
import type { ReactNode } from 'react';
import { Check, Input } from '../ui/fields.tsx';
import { AddButton, moved, MoveTools } from '../ui/move-tools.tsx';
import { colourOf } from '../incidents/incident-labels.tsx';
import ui from '../ui/ui.module.css';
import css from './configuration.module.css';

type Lists = Pick<Configuration, 'workflow_statuses' | 'severities' | 'service_tiers' | 'incident_roles'>;
export type ListName = keyof Lists;
/** An entry with what some lists have besides. */
export type Row = Pick<IncidentRole, 'key' | 'label'> &
  Partial<
    Pick<ServiceTier, 'is_default'> &
      Pick<WorkflowStatus, 'is_terminal' | 'is_escalation_threshold' | 'color'> &
      Pick<Severity, 'restricted'> &
      Pick<IncidentRole, 'description' | 'several_holders'>
  > & {
    /** As somebody has typed it, or as it is stored. */
    min_score?: number | string;
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
    const scored = (row: Row, at: number): Row => ({ ...row, min_score: rows[at]?.min_score ?? 0 });
    onChange(name === 'severities' ? moved(rows, index, by).map(scored) : moved(rows, index, by));
  };
  const fresh = (): Row => ({
    ...{ id: crypto.randomUUID(), key: '', label: '' },
    ...(name === 'incident_roles' ? { several_holders: false } : { is_default: rows.length === 0 }),
    ...(name !== 'workflow_statuses' && { description: '' }),
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
            <MoveTools
              label={row.label}
              isFirst={index === 0}
              isLast={index === rows.length - 1}
              onMove={(by) => move(index, by)}
              onRemove={() => onChange(rows.toSpliced(index, 1))}
            />
          </Entry>
        ))}
      </ul>
      {canEdit && <AddButton onAdd={() => onChange([...rows, fresh()])} />}
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
        <div className={css.flags}>
          <Check
            label={flag.label}
            disabled={!canEdit}
            value={row[flag.name] === true}
            onValue={(value) => onChange({ [flag.name]: value })}
          />
          {list === 'workflow_statuses' && (
            <Check
              label="Escalates"
              disabled={!canEdit}
              value={row.is_escalation_threshold === true}
              onValue={(value) => onChange({ is_escalation_threshold: value })}
            />
          )}
        </div>
      )}
      {canEdit && children}
      <Extras {...{ list, index, row, canEdit, onChange }} />
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

/** What else some lists say of an entry, below it. */
function Extras({ list, index, row, canEdit, onChange }: Omit<EntryProps, 'children' | 'onDefault'>) {
  if (list === 'incident_roles' || list === 'workflow_statuses') return null;
  return (
    <div className={css.extras}>
      <Input
        bare
        name={`${list}.${index}.description`}
        label={list === 'severities' ? `When to choose ${row.label}` : `What ${row.label} means`}
        placeholder={list === 'severities' ? 'When to choose it' : 'What it means'}
        readOnly={!canEdit}
        value={row.description ?? ''}
        onValue={(description) => onChange({ description })}
      />
      {list === 'severities' && (
        <>
          <span className={ui.hint} aria-hidden="true">
            from a score of
          </span>
          <Input
            bare
            name={`${list}.${index}.min_score`}
            label={`Lowest score of ${row.label}`}
            inputMode="decimal"
            size={5}
            readOnly={!canEdit}
            value={row.min_score ?? ''}
            onValue={(score) => onChange({ min_score: score })}
          />
        </>
      )}
    </div>
  );
}
