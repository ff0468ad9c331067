import { type ReactNode, useId, useState } from 'react';
import { useConfiguration, useFields, useServices } from '../api/hooks.ts';
import { TeamFilter } from '../resources/team-filter.tsx';
import { formatValue } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Select, choices } from '../ui/fields.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { useActiveFilters } from './active-filters.ts';
import { DateFilter } from './date-filter.tsx';
import { FieldFilterForm } from './field-filter.tsx';
import { type Change, type ListSearch, POSTMORTEM_FILTERS } from './incident-filters.ts';
import css from './incidents.module.css';

export function Filters({ search, change }: { search: ListSearch; change: Change }) {
  const { severities } = useConfiguration();
  const { data: services = [] } = useServices();
  const { data: fields = [] } = useFields();
  const [isAdding, setAdding] = useState(false);
  const filters = search.fields ?? [];
  return (
    <div className={css.filters}>
      <SearchField label="Search titles, summaries and INC numbers" value={search.q} onValue={(q) => change({ q })} />
      <Foldable search={search}>
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
        <TeamFilter team={search.team} onTeam={(team) => change({ team })} />
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
      </Foldable>
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

/** On a phone, the filters are behind a button, which says how many there are. */
function Foldable({ search, children }: { search: ListSearch; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const controls = useId();
  const count = useActiveFilters(search).filter(({ name }) => name !== 'q').length;
  return (
    <>
      <div className={css.unfold}>
        <Button icon="settings" aria-expanded={isOpen} aria-controls={controls} onClick={() => setOpen(!isOpen)}>
          {count === 0 ? 'Filters' : `Filters (${count})`}
        </Button>
      </div>
      <div id={controls} className={classes(css.controls, isOpen && css.unfolded)}>
        {children}
      </div>
    </>
  );
}
