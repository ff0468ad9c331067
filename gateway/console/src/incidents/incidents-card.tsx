import type { Incident } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/hooks.ts';
import { buttonClass } from '../ui/button.tsx';
import { Card } from '../ui/layout.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { type ListSearch, listRequest } from './incident-filters.ts';
import { IncidentRow } from './incident-row.tsx';

/** How many are shown; the list has all. */
const SHOWN = 10;

/** The first incidents of a list, on another page. */
export function IncidentsCard({ title, none, search }: { title: string; none: string; search: ListSearch }) {
  const { path, parameters } = listRequest(search);
  const list = useList<Incident>(path, 'incidents', { ...parameters, include_counts: undefined, limit: SHOWN });
  return (
    <Card
      title={title}
      actions={
        <Link to="/" search={search} className={buttonClass('quiet', true)}>
          Open the list
        </Link>
      }
    >
      <Loaded query={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title={none} />
          ) : (
            <ul data-rows>
              {rows.map((incident) => (
                <IncidentRow key={incident.id} incident={incident} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
