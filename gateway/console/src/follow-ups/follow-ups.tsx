/**
 * `follow-ups` is what is left to do after incidents. A follow-up has an owner, a day on which it is due, and perhaps a
 * ticket in another system; it is open until it is done or dropped. `follow-up-row.tsx` shows one with what can be done
 * with it, here and on the page of its incident. This page lists those of all incidents: one's own, overdue ones, and
 * those that the members of a team own. The API has no filter by the team of an owner, so the page reads on
 * until it has enough of them.
 */
import type { FollowUp, Incident } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { MAX_CHOICES, useAccess, useGet, useList, useMembers } from '../api/hooks.ts';
import { useReadingOn } from '../resources/reading-on.ts';
import { TeamFilter } from '../resources/team-filter.tsx';
import { Select } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { useRowKeys } from '../ui/row-keys.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Loaded, Loading, More } from '../ui/states.tsx';
import { Tab, Tabs } from '../ui/tabs.tsx';
import ui from '../ui/ui.module.css';
import { FollowUpRow, today } from './follow-up-row.tsx';
import { type FollowUpsSearch, STATUSES, VIEWS } from './follow-ups-search.ts';
import css from './follow-ups.module.css';

const route = getRouteApi('/follow-ups');

export function FollowUpsPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/follow-ups' });
  const change = (changes: FollowUpsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false });
  const { view = 'mine', status = 'open', team, q } = search;
  useRowKeys();
  return (
    <Page title="Follow-ups" guide="follow-ups" lead="What is left to do after incidents.">
      <Tabs label="Whose">
        {VIEWS.map(([key, label]) => (
          <Tab key={key} label={label} isCurrent={view === key} onChoose={() => change({ view: key })} />
        ))}
      </Tabs>
      <div className={css.filters}>
        <SearchField label="Search titles and descriptions" value={q} onValue={(text) => change({ q: text })} />
        {view !== 'mine' && (
          <TeamFilter
            label="Team of the owner"
            any="Any owner"
            team={team}
            onTeam={(chosen) => change({ team: chosen })}
          />
        )}
        {view !== 'overdue' && (
          <Select
            bare
            label="Status"
            options={STATUSES}
            value={status}
            onValue={(value) => change({ status: value })}
          />
        )}
      </div>
      <Card>
        {view !== 'mine' && team !== undefined ? (
          <OfTeam key={team} team={team} search={search} />
        ) : (
          <List search={search} />
        )}
      </Card>
    </Page>
  );
}

/** The API has no filter by the team of an owner, so what its members own is found while the list is read. */
function OfTeam({ team, search }: { team: number; search: FollowUpsSearch }) {
  const members = useMembers(`/teams/${team}/members`);
  return (
    <Loaded query={members}>
      {(rows) => (
        <>
          {rows.length >= MAX_CHOICES && <p className={ui.item}>Only the first {MAX_CHOICES} members count.</p>}
          <List search={search} owners={new Set(rows.map(({ user_id: user }) => String(user)))} />
        </>
      )}
    </Loaded>
  );
}

/** Rows that fill a page. */
const SHOWN = 30;

function List({ search, owners }: { search: FollowUpsSearch; owners?: ReadonlySet<string> }) {
  const { user } = useAccess();
  const { view = 'mine', status = 'open', q } = search;
  const list = useList<FollowUp>('/follow-ups', 'follow_ups', {
    owner: view === 'mine' ? user?.id : undefined,
    status: view === 'overdue' ? 'open' : status === 'any' ? undefined : status,
    due_before: view === 'overdue' ? today() : undefined,
    q,
    limit: owners === undefined ? SHOWN : 100,
  });
  const { data, hasNextPage } = list;
  const rows = data?.rows.filter(({ owner }) => owners?.has(owner) ?? true) ?? [];
  const read = data?.rows.length ?? 0;
  const isReadingOn = useReadingOn(list, {
    // A page of a search has compared many that do not match already.
    isNeeded: owners !== undefined && q === undefined,
    ...{ read, shown: rows.length, enough: SHOWN },
  });
  return (
    <>
      <Loaded query={list} rows={8}>
        {() =>
          rows.length > 0 ? (
            <ul data-rows>
              {rows.map((followUp) => (
                <ListedFollowUp key={followUp.id} followUp={followUp} />
              ))}
            </ul>
          ) : isReadingOn ? (
            <Loading />
          ) : (
            <None search={search} read={hasNextPage ? read : undefined} />
          )
        }
      </Loaded>
      {!isReadingOn && <More list={list} />}
    </>
  );
}

/** A follow-up with its incident. */
export function ListedFollowUp({ followUp }: { followUp: FollowUp }) {
  const { canRespond } = useAccess();
  const { incident } = useGet<{ incident: Incident }>(`/incidents/${followUp.incident_id}`).data ?? {};
  return (
    <FollowUpRow followUp={followUp} canEdit={canRespond && incident?.archived_at === null}>
      {incident && (
        <Link to="/incidents/$id" params={{ id: incident.human_id }} title={incident.title}>
          {incident.human_id} {incident.title}
        </Link>
      )}
    </FollowUpRow>
  );
}

/** @param props `read` is how many were looked at, if there are more */
function None({
  search: { view = 'mine', status = 'open', team, q },
  read,
}: {
  search: FollowUpsSearch;
  read?: number | undefined;
}) {
  if (read !== undefined) return <Empty title={`None among the first ${read.toLocaleString('en')}`} icon="search" />;
  if (q !== undefined || status !== 'open' || (team !== undefined && view !== 'mine'))
    return <Empty title="No follow-up matches" icon="search" />;
  if (view === 'overdue') return <Empty title="Nothing is overdue" />;
  return (
    <Empty title={view === 'mine' ? 'Nothing is left for you to do' : 'Nothing is left to do'}>
      Follow-ups are added on the page of an incident.
    </Empty>
  );
}
