import { useState } from 'react';
import { Input, Select } from '../ui/fields.tsx';
import { DAYS, type ListSearch, toDay } from './incident-filters.ts';
import css from './incidents.module.css';

const NONE = { days: undefined, from: undefined, until: undefined };

/** When an incident was declared: the last days, or dates of one's own. */
export function DateFilter({
  search: { days, from, until },
  change,
}: {
  search: ListSearch;
  change: (changes: Partial<ListSearch>) => void;
}) {
  const [isOwn, setOwn] = useState(false);
  const hasOwn = isOwn || from !== undefined || until !== undefined;
  return (
    <>
      <Select
        bare
        label="Declared"
        options={[
          ['', 'Any time'],
          ...DAYS.map((each) => [String(each), `Last ${each} days`] as const),
          ['own', 'Dates…'],
        ]}
        value={hasOwn ? 'own' : String(days ?? '')}
        onValue={(value) => {
          setOwn(value === 'own');
          change({ ...NONE, days: DAYS.find((each) => String(each) === value) });
        }}
      />
      {hasOwn && (
        <div className={css.dates}>
          <Input
            label="From"
            type="date"
            value={from === undefined ? '' : toDay(from)}
            onValue={(day) => change({ from: day || undefined })}
          />
          <Input
            label="Until"
            type="date"
            value={until === undefined ? '' : toDay(until, -1)}
            onValue={(day) => change({ until: day || undefined })}
          />
        </div>
      )}
    </>
  );
}
