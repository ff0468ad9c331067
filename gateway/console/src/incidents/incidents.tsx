/**
 * `incidents` is all incidents of the workspace at once: the list with its tabs, search, filters, order and saved views
 * (this file), the archive, the selection that is changed together (`bulk.tsx`), and the statistics. The address has
 * what the list shows (`incident-filters.ts`), so that it can be shared, and comes back with Back. Rows change where
 * they stand, and new incidents are counted above the list until somebody asks for them. What an incident has on every
 * page is here, too: the names of its properties, the badges of severity and status, and what can be done with it.
 */
import type { Incident, ListIncidentsReply } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import {
  useAccess,
  useConfiguration,
  useFields,
  useList,
  useNameOf,
  useRetention,
  useServices,
  useTeams,
  refresh,
} from '../api/hooks.ts';
import { forgetNews, useLive } from '../api/live.ts';
import { formatDay, formatDuration, formatMoment, formatSpan, formatTime, formatValue, plural } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Button, buttonClass, classes } from '../ui/button.tsx';
import { Check, type Options, Select, choices } from '../ui/fields.tsx';
import { Restricted, SeverityBadge, StatusText, UpdateDue } from './incident-labels.tsx';
import { Page } from '../ui/layout.tsx';
import { useRowKeys } from '../ui/row-keys.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Loaded, More } from '../ui/states.tsx';
import { Tab, Tabs } from '../ui/tabs.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { type Selection, SelectionBar, useSelection } from './bulk.tsx';
import { DateFilter } from './date-filter.tsx';
import { FieldFilterForm } from './field-filter.tsx';
import {
  isOngoing,
  type ListSearch,
  listRequest,
  POSTMORTEM_FILTERS,
  rememberList,
  SORTS,
} from './incident-filters.ts';
import css from './incidents.module.css';
import { SavedViews } from './saved-views.tsx';

const route = getRouteApi('/');

export function IncidentsPage() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/' });
  const { path, parameters } = listRequest(search);
  const list = useList<Incident, ListIncidentsReply>(path, 'incidents', parameters);
  const { news } = useLive();
  const { canRespond } = useAccess();
  const selection = useSelection(search);
  const change = (changes: Partial<ListSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false });
  const isFiltered = Object.keys(search).some((name) => !['view', 'sort', 'direction'].includes(name));
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
      {news > 0 && (
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
      )}
      <section className={ui.card} aria-label="Incidents" aria-busy={list.isFetching}>
        {canRespond && <SelectionBar rows={list.data?.rows ?? []} selection={selection} />}
        <Loaded query={list} rows={8}>
          {({ rows }) =>
            rows.length === 0 ? (
              <NoIncidents search={search} isFiltered={isFiltered} change={change} />
            ) : (
              <ul data-rows>
                {rows.map((incident) => (
                  <IncidentRow key={incident.id} incident={incident} selection={canRespond ? selection : undefined} />
                ))}
              </ul>
            )
          }
        </Loaded>
        <More list={list} />
      </section>
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

export function IncidentRow({ incident, selection }: { incident: Incident; selection?: Selection | undefined }) {
  const nameOf = useNameOf();
  const team = useTeams().data?.find(({ id }) => id === incident.team_id)?.name;
  const { statuses } = useConfiguration();
  const isOver = statuses.find(({ key }) => key === incident.status)?.is_terminal === true;
  return (
    <li className={classes(css.row, isOver && css.over, selection && css.selectable)}>
      {selection && (
        <Check
          label={<span className={ui.hidden}>Select {incident.human_id}</span>}
          value={selection.ids.has(incident.id)}
          onValue={(isChosen) => selection.choose([incident.id], isChosen)}
        />
      )}
      <SeverityBadge value={incident.severity} />
      <div className={css.what}>
        <Link to="/incidents/$id" params={{ id: incident.human_id }} className={css.title}>
          {incident.title}
        </Link>
        <p className={ui.facts}>
          <span className={css.ref}>{incident.human_id}</span>
          {incident.restricted && <Restricted />}
          <UpdateDue incident={incident} />
          {incident.service && <span>{incident.service}</span>}
          {team && <span>{team}</span>}
          {incident.incident_manager && <span>{nameOf(incident.incident_manager)}</span>}
          {incident.customer_impact_status === 'confirmed' && <span className={css.impact}>Customers affected</span>}
        </p>
      </div>
      <div className={css.state}>
        <StatusText value={incident.status} />
        <span className={css.when} title={formatTime(incident.created_at)}>
          {isOver ? (
            `${formatSpan(incident.created_at, endOf(incident))}, took ${formatDuration(incident.duration_seconds)}`
          ) : (
            <>
              {formatMoment(incident.created_at)}, <Ago time={incident.created_at} />
            </>
          )}
        </span>
      </div>
    </li>
  );
}

/** When an incident was over. */
const endOf = (incident: Incident): string => {
  const anchor = incident[incident.duration_anchor as 'created_at'];
  return new Date(Date.parse(anchor) + incident.duration_seconds * 1_000).toISOString();
};

type Change = (changes: Partial<ListSearch>) => void;

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

function Filters({ search, change }: { search: ListSearch; change: Change }) {
  const { severities } = useConfiguration();
  const { data: services = [] } = useServices();
  const { data: teams = [] } = useTeams();
  const { data: fields = [] } = useFields();
  const [isAdding, setAdding] = useState(false);
  const filters = search.fields ?? [];
  return (
    <div className={css.filters}>
      <SearchField label="Search titles, summaries and INC numbers" value={search.q} onValue={(q) => change({ q })} />
      <div className={css.controls}>
        <Select
          bare
          label="Severity"
          options={[['', 'Any severity'], ...choices(severities, 'key', 'label')]}
          value={search.severity?.[0] ?? ''}
          onValue={(value) => change({ severity: value === '' ? undefined : [value] })}
        />
        <Select
          bare
          label="Service"
          options={[['', 'Any service'], ...choices(services, 'slug', 'name')]}
          value={search.service ?? ''}
          onValue={(value) => change({ service: value || undefined })}
        />
        <Select
          bare
          label="Team"
          options={[['', 'Any team'], ...choices(teams, 'id', 'name')]}
          value={String(search.team ?? '')}
          onValue={(value) => change({ team: value === '' ? undefined : Number(value) })}
        />
        <Select
          bare
          label="Who has looked"
          options={[
            ['', 'Seen or not'],
            ['alerts', 'Alerts nobody has looked at'],
          ]}
          value={search.alerts === true ? 'alerts' : ''}
          onValue={(value) => change({ alerts: value === 'alerts' || undefined })}
        />
        <PostmortemFilter search={search} change={change} />
        <DateFilter search={search} change={change} />
        {fields.length > 0 && (
          <Button kind="quiet" icon="plus" onClick={() => setAdding(true)}>
            Field
          </Button>
        )}
        {filters.map((filter, index) => (
          <button
            key={`${filter.slug} ${filter.operator}`}
            type="button"
            className={css.chip}
            aria-label={`Remove the filter by ${filter.slug}`}
            onClick={() => change({ fields: filters.length === 1 ? undefined : filters.toSpliced(index, 1) })}
          >
            {fields.find(({ slug }) => slug === filter.slug)?.name ?? filter.slug}{' '}
            {filter.operator.replaceAll('_', ' ')} {formatValue(filter.value)}
            <Icon name="close" size={12} />
          </button>
        ))}
      </div>
      {isAdding && (
        <FieldFilterForm
          fields={fields}
          onClose={() => setAdding(false)}
          onAdd={(filter) => {
            setAdding(false);
            change({ fields: [...filters, filter] });
          }}
        />
      )}
    </div>
  );
}

const PostmortemFilter = ({ search: { postmortem }, change }: { search: ListSearch; change: Change }) => (
  <Select
    bare
    label="Post-mortem"
    options={POSTMORTEM_FILTERS}
    value={postmortem?.join() ?? ''}
    onValue={(value) => change({ postmortem: value === '' ? undefined : value.split(',') })}
  />
);

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

function NoIncidents({ search, isFiltered, change }: { search: ListSearch; isFiltered: boolean; change: Change }) {
  if (isFiltered) {
    const none = Object.fromEntries(Object.keys(search).map((name) => [name, undefined]));
    return (
      <Empty
        title="No incident matches"
        icon="search"
        action={<Button onClick={() => change(none)}>Clear filters</Button>}
      >
        Remove a filter, or look at another status.
      </Empty>
    );
  }
  if (search.view === 'archived') return <Empty title="Nothing is archived" />;
  return (
    <Empty
      title={search.view === undefined ? 'Nothing is on fire' : 'No incident so far'}
      action={
        <Link to="/start" className={buttonClass()}>
          First steps
        </Link>
      }
    >
      Press <Badge>c</Badge> to declare an incident. It takes a title; everything else can wait.
    </Empty>
  );
}
