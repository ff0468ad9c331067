import type { ListIncidentsReply } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useGet } from '../api/hooks.ts';
import { query } from '../api/query.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { plural } from '../ui/format.ts';
import { Empty } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { useActiveFilters } from './active-filters.ts';
import { type Change, isOngoing, type ListSearch, listRequest } from './incident-filters.ts';

/** The part of the reference about history of other systems. */
const HISTORY = '/docs#tag/import-and-export';
/** For so many filters it is read what the list has without each of them. */
const MAX_COUNTED = 5;

/** What an empty list says: what to do next. */
export function NoIncidents({ search, change }: { search: ListSearch; change: Change }) {
  const filters = useActiveFilters(search);
  const { data } = useGet<ListIncidentsReply>('/incidents?include_counts=true&limit=1');
  const isNew = data?.collection_counts?.all === 0;
  if (filters.length > 0) {
    const none = Object.assign({}, ...filters.map(({ without }) => without)) as Partial<ListSearch>;
    return (
      <Empty
        title="No incident matches"
        icon="search"
        action={
          <div className={ui.row}>
            {filters.length > 1 &&
              filters
                .slice(0, MAX_COUNTED)
                .map(({ label, without }) => (
                  <Without
                    key={label}
                    label={label}
                    search={{ ...search, ...without }}
                    onChoose={() => change(without)}
                  />
                ))}
            <Button onClick={() => change({ ...none, status: undefined, view: undefined })}>Clear filters</Button>
          </div>
        }
      >
        Remove a filter, or look at another status.
      </Empty>
    );
  }
  if (search.view === 'archived') return <Empty title="Nothing is archived" />;
  return (
    <Empty
      title={
        isOngoing(search) && !isNew
          ? 'Nothing is on fire'
          : isNew
            ? 'No incident so far'
            : 'No incident has this status'
      }
      action={
        <div className={ui.row}>
          {isNew && (
            <Link to="/alerts" className={buttonClass()}>
              Connect a monitor
            </Link>
          )}
          {isNew && (
            <a href={HISTORY} target="_blank" rel="noreferrer" className={buttonClass()}>
              Bring history along
            </a>
          )}
          <Link to="/start" className={buttonClass()}>
            First steps
          </Link>
        </div>
      }
    >
      Press <Badge>c</Badge> to declare an incident. It takes a title; everything else can wait.
    </Empty>
  );
}

/** Takes a filter away, and says how many incidents there are without it. */
function Without({ label, search, onChoose }: { label: string; search: ListSearch; onChoose: () => void }) {
  const { path, parameters } = listRequest(search);
  const { data } = useGet<ListIncidentsReply>(path + query({ ...parameters, limit: 1 }));
  const matched = data?.collection_counts?.matched;
  return (
    <Button onClick={onChoose}>
      Without “{label}”{matched !== undefined && `: ${plural(matched, 'incident', 'incidents')}`}
    </Button>
  );
}
