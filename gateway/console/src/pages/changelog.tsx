import type { ChangelogEntry } from '@tocsin/sdk';
import { useList, useNameOf } from '../api/hooks.ts';
import { formatName, formatValue } from '../ui/format.ts';
import { Ago, Card, css as ui, Empty, Loaded, More } from '../ui/ui.tsx';
import css from './incident.module.css';

const PEOPLE = ['incident_manager', 'archived_by'];

export function Changelog({ incidentId }: { incidentId: number }) {
  const list = useList<ChangelogEntry>(`/incidents/${incidentId}/changelog`, 'changelog');
  const nameOf = useNameOf();
  const show = (field: string, value: unknown) =>
    PEOPLE.includes(field) && (typeof value === 'string' || typeof value === 'number')
      ? nameOf(value)
      : formatValue(value);
  return (
    <Card>
      <Loaded query={list}>
        {({ rows }) => {
          const entries = rows.filter(({ changes }) => changes.length > 0);
          if (entries.length === 0) return <Empty title="Nothing was changed so far" />;
          return (
            <ol className={css.changes}>
              {entries.map(({ id, actor, changed_at: at, changes }) => (
                <li key={id}>
                  <p className={ui.muted}>
                    <span className={ui.strong}>{nameOf(actor)}</span> <Ago time={at} />
                  </p>
                  {changes.map(({ field, from, to }) => (
                    <p key={field}>
                      {formatName(field)}: <del>{show(field, from)}</del> <ins>{show(field, to)}</ins>
                    </p>
                  ))}
                </li>
              ))}
            </ol>
          );
        }}
      </Loaded>
      <More list={list} />
    </Card>
  );
}
