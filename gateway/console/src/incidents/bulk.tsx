import type { BulkIncidentsReply, Incident } from '@tocsin/sdk';
import { useCallback, useEffect, useState } from 'react';
import { useConfiguration, useContentKey, useWrite } from '../api/hooks.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, DoneDialog } from '../ui/dialogs.tsx';
import { Check, choices, Select } from '../ui/fields.tsx';
import { plural } from '../ui/format.ts';
import { Table } from '../ui/table.tsx';
import { Badge } from '../ui/texts.tsx';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import css from './incidents.module.css';
import { LABELS, type Verb, verbsFor } from './lifecycle.ts';

/** Incidents that one request changes, at most. */
const MAX = 50;

/** The rows of a list that are chosen, by their IDs; none in another list. */
export function useSelection(list: unknown) {
  const [ids, setIds] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => setIds(new Set()), [list]);
  // The same for each render, so that rows are drawn again only if they have changed.
  const choose = useCallback(
    (rows: readonly number[], isChosen: boolean) =>
      setIds((before) => {
        const changed = new Set(rows);
        const others = [...before].filter((id) => !changed.has(id));
        return new Set(isChosen ? [...others, ...rows] : others);
      }),
    [],
  );
  return { ids, choose };
}

export type Selection = ReturnType<typeof useSelection>;

/** What is done with each of some incidents. */
interface Asked {
  incidents: readonly Incident[];
  change: { verb: Verb } | { changes: { severity: string } };
  label: string;
}

/** What can be done with the rows of a list that are chosen. */
export function SelectionBar({ rows, selection }: { rows: readonly Incident[]; selection: Selection }) {
  const { statuses, severities } = useConfiguration();
  const [asked, setAsked] = useState<Asked>();
  const chosen = rows.filter(({ id }) => selection.ids.has(id));
  const first = rows.slice(0, MAX);
  const isOver = ({ status }: Incident) => statuses.find(({ key }) => key === status)?.is_terminal === true;
  const possible = new Set(chosen.flatMap((incident) => verbsFor(incident, isOver(incident))));
  const nameOf = (severity: string) => severities.find(({ key }) => key === severity)?.label ?? severity;
  const ask = (change: Asked['change'], label: string) => setAsked({ incidents: chosen, change, label });
  const bar = (
    <div className={css.bulk} role="group" aria-label="Selected incidents">
      <Check
        label={rows.length > MAX ? `Select the first ${MAX}` : 'Select all'}
        value={first.every(({ id }) => selection.ids.has(id))}
        onValue={(isChosen) =>
          selection.choose(
            (isChosen ? first : rows).map(({ id }) => id),
            isChosen,
          )
        }
      />
      {chosen.length > 0 && <span role="status">{chosen.length} selected</span>}
      {chosen.length > MAX && <span className={ui.fault}>At most {MAX} can be changed at once.</span>}
      {chosen.length > 0 && chosen.length <= MAX && (
        <>
          {(Object.keys(LABELS) as Verb[])
            .filter((verb) => possible.has(verb))
            .map((verb) => (
              <Button key={verb} small onClick={() => ask({ verb }, LABELS[verb])}>
                {LABELS[verb]}
              </Button>
            ))}
          {!possible.has('restore') && (
            <Select
              bare
              label="Set the severity"
              options={[['', 'Severity…'], ...choices(severities, 'key', 'label')]}
              value=""
              onValue={(severity) => ask({ changes: { severity } }, `Set ${nameOf(severity)}`)}
            />
          )}
        </>
      )}
    </div>
  );
  return (
    <>
      {rows.length > 0 && bar}
      {asked && (
        <BulkDialog {...asked} onDone={(ids) => selection.choose(ids, false)} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

/** Asks, changes, and says what became of each incident unless all went well. */
function BulkDialog({
  incidents,
  change,
  label,
  onDone,
  onClose,
}: Asked & { onDone: (ids: readonly number[]) => void; onClose: () => void }) {
  const key = useContentKey();
  const bulk = useWrite<BulkIncidentsReply>('/incidents');
  const results = bulk.data?.results ?? [];
  const failed = results.filter(({ error }) => error !== undefined).length;
  const submit = () => {
    const body = { items: incidents.map(({ id, revision }) => ({ id, revision, ...change })) };
    const onSuccess = ({ results: all }: BulkIncidentsReply) => {
      const done = all.filter(({ error }) => error === undefined);
      onDone(done.flatMap(({ index }) => incidents[index]?.id ?? []));
      if (done.length < all.length) return;
      onClose();
      say(`${plural(done.length, 'incident is', 'incidents are')} changed.`);
    };
    bulk.mutate({ path: '/incidents/bulk', key: key.of(JSON.stringify(body)), body }, { onSuccess });
  };
  if (failed === 0) {
    return (
      <Confirm
        title={`${label}: ${plural(incidents.length, 'incident')}`}
        label={label}
        busy={bulk.isPending}
        error={bulk.error}
        onClose={onClose}
        onSubmit={submit}
      >
        {incidents.map(({ human_id: name }) => name).join(', ')}
      </Confirm>
    );
  }
  return (
    <DoneDialog
      title={`${failed} of ${plural(results.length, 'incident')} could not be changed`}
      label="Go on"
      onClose={onClose}
    >
      <Table
        rows={results}
        keyOf={({ index }) => index}
        columns={[
          ['Incident', ({ index }) => `${incidents[index]?.human_id} ${incidents[index]?.title}`, { kind: 'head' }],
          [
            'Result',
            ({ status, error }) =>
              error === undefined ? (
                <Badge tone="good">Done</Badge>
              ) : (
                <span className={ui.fault}>
                  {status === 412 ? 'Somebody else changed it meanwhile' : error.message}
                </span>
              ),
          ],
        ]}
      />
    </DoneDialog>
  );
}
