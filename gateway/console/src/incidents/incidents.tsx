/**
 * `incidents` is all incidents of the workspace at once: the list with its tabs, search, filters, order and saved views
 * (this file), the archive, the selection that is changed together (`bulk.tsx`), and the statistics. The address has
 * what the list shows (`incident-filters.ts`), so that it can be shared, and comes back with Back. Rows change where
 * they stand, and new incidents are counted above the list until somebody asks for them. What an incident has on every
 * page is here, too: the names of its properties, the badges of severity and status, and what can be done with it.
 */
import type { Incident, ListIncidentsReply } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAccess, useConfiguration, useList, useRetention, refresh } from '../api/hooks.ts';
import { forgetNews, useLive } from '../api/live.ts';
import { formatDay, plural } from '../ui/format.ts';
import { Button, classes } from '../ui/button.tsx';
import { type Options, Select } from '../ui/fields.tsx';
import { Page } from '../ui/layout.tsx';
import { useRowKeys } from '../ui/row-keys.ts';
import { Loaded, More } from '../ui/states.tsx';
import { Tab, Tabs } from '../ui/tabs.tsx';
import ui from '../ui/ui.module.css';
import { useActiveFilters } from './active-filters.ts';
import { SelectionBar, useSelection } from './bulk.tsx';
import { Filters } from './filters.tsx';
import { type Change, isOngoing, type ListSearch, listRequest, rememberList, SORTS } from './incident-filters.ts';
import css from './incidents.module.css';
import { IncidentRow } from './incident-row.tsx';
import { NoIncidents } from './no-incidents.tsx';
import { SavedViews } from './saved-views.tsx';

const route = getRouteApi('/');

/** Pages that come while somebody scrolls are larger, and count nothing again. */
const LATER_PAGES = { limit: 100, include_counts: undefined };

export function IncidentsPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/' });
  const { path, parameters } = listRequest(search);
  const list = useList<Incident, ListIncidentsReply>(path, 'incidents', parameters, { later: LATER_PAGES });
  const { canRespond } = useAccess();
  const selection = useSelection(search);
  const change: Change = (changes) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false });
  const isFiltered = useActiveFilters(search).length > 0;
  const counts = list.data?.first.collection_counts;
  const others = search.q === undefined || counts === undefined ? 0 : counts.all - counts.matched;

  useEffect(forgetNews, []);
  useEffect(() => rememberList(search), [search]);
  useRowKeys();

  return (
    <Page
      title="Incidents"
      guide="incidents"
      actions={
        <>
          <SavedViews search={search} onChoose={(view) => void navigate({ search: view })} />
          <SortSelect search={search} change={change} />
        </>
      }
    >
      <Views search={search} counts={counts} change={change} />
      <Filters search={search} change={change} />
      <AnnouncedDeletions />
      <News />
      <section className={ui.card} aria-label="Incidents" aria-busy={list.isFetching}>
        {canRespond && <SelectionBar rows={list.data?.rows ?? []} selection={selection} />}
        <Loaded query={list} rows={8}>
          {({ rows }) =>
            rows.length === 0 ? (
              <NoIncidents search={search} change={change} />
            ) : (
              <ul data-rows>
                {rows.map((incident) => (
                  <IncidentRow
                    key={incident.id}
                    incident={incident}
                    isChosen={canRespond ? selection.ids.has(incident.id) : undefined}
                    choose={selection.choose}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
        <More list={list} isAutomatic />
      </section>
      <Total
        matched={counts?.matched ?? 0}
        isFiltered={isFiltered}
        shown={list.hasNextPage && list.data?.rows.length}
      />
      {others > 0 && (
        <p role="status" className={classes(ui.row, css.others)}>
          {plural(others, 'incident')} with another status {others === 1 ? 'matches' : 'match'}, too.
          <Button small onClick={() => change({ view: 'all', status: undefined })}>
            Show all
          </Button>
        </p>
      )}
    </Page>
  );
}

/** What was declared meanwhile comes into the list when somebody asks for it. */
function News() {
  const { news } = useLive();
  if (news === 0) return null;
  return (
    <p role="status" className={classes(ui.notice, css.news)}>
      {plural(news, 'incident was', 'incidents were')} declared since you opened this list.
      <Button
        small
        onClick={() => {
          forgetNews();
          void refresh('/incidents');
        }}
      >
        Show
      </Button>
    </p>
  );
}

/** @param props `shown` are the rows that are read so far, unless they are all */
const Total = ({
  matched,
  isFiltered,
  shown,
}: {
  matched: number;
  isFiltered: boolean;
  shown: number | false | undefined;
}) =>
  matched > 0 && (
    <p className={css.total}>
      {plural(matched, 'incident')}
      {isFiltered && (matched === 1 ? ' matches' : ' match')}
      {shown && `, of which ${shown.toLocaleString('en')} are shown`}.
    </p>
  );

function Views({
  search,
  counts,
  change,
}: {
  search: ListSearch;
  counts: ListIncidentsReply['collection_counts'];
  change: Change;
}) {
  const { statuses } = useConfiguration();
  const tab = (
    label: string,
    count: number | undefined,
    isCurrent: boolean,
    view: ListSearch['view'],
    status?: string,
  ) => (
    <Tab
      key={status ?? label}
      label={label}
      count={count}
      isCurrent={isCurrent}
      onChoose={() => change({ view, status: status === undefined ? undefined : [status] })}
    />
  );
  const [only] = search.status ?? [];
  const isArchive = search.view === 'archived';
  // Those of the archived list say nothing about the others.
  const active = isArchive ? undefined : counts;
  const isAll = only === undefined && !isArchive && !isOngoing(search);
  return (
    <Tabs label="Status">
      {tab('Ongoing', active?.ongoing, isOngoing(search), search.q === undefined ? undefined : 'ongoing')}
      {statuses.map(({ key, label }) => tab(label, active?.by_status[key], only === key, undefined, key))}
      {tab('All', active?.all, isAll, 'all')}
      {tab('Archived', isArchive ? counts?.all : undefined, isArchive, 'archived')}
    </Tabs>
  );
}

/** What the retention deletes within 30 days, for those who manage the workspace. */
function AnnouncedDeletions() {
  const { canManage } = useAccess();
  const { count, first_at: first } = useRetention(canManage)?.announced ?? { count: 0, first_at: null };
  if (first === null) return null;
  return (
    <p className={ui.notice}>
      {plural(count, 'archived incident is', 'archived incidents are')} deleted for good from {formatDay(first)} on, by
      the <Link to="/configuration">retention</Link> of the workspace.
    </p>
  );
}

const SortSelect = ({ search, change }: { search: ListSearch; change: Change }) => {
  if (search.view === 'archived') return null;
  const value = `${search.sort ?? 'created_at'}${search.direction === 'asc' ? ':asc' : ''}`;
  const options: Options = SORTS.flatMap(([key, label]) => [
    [key, key.endsWith('_at') ? `${label}, newest first` : `${label}, highest first`] as const,
    [`${key}:asc`, key.endsWith('_at') ? `${label}, oldest first` : `${label}, lowest first`] as const,
  ]);
  return (
    <Select
      bare
      label="Order"
      options={options}
      value={value}
      onValue={(next) => {
        const [sort = '', direction] = next.split(':');
        change({
          sort: sort === 'created_at' ? undefined : (sort as ListSearch['sort']),
          direction: direction === 'asc' ? 'asc' : undefined,
        });
      }}
    />
  );
};
