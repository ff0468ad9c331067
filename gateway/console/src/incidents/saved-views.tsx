import { useMemo, useState, useSyncExternalStore } from 'react';
import { useMe } from '../api/hooks.ts';
import { FormDialog } from '../ui/dialogs.tsx';
import { Input, Select } from '../ui/fields.tsx';
import { say } from '../ui/toast.tsx';
import { type ListSearch, readListSearch } from './incident-filters.ts';

interface SavedView {
  name: string;
  search: ListSearch;
}

/** Each user of a workspace has their own; other people may use the same browser. */
const KEY = 'views';
const MAX_VIEWS = 50;
const MAX_NAME = 60;

/** Anything may be stored in a browser: what is no view is left out. */
function parse(text: string | null): SavedView[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return (Array.isArray(list) ? (list as Partial<SavedView>[]) : []).flatMap(({ name, search }) =>
      typeof name === 'string' ? [{ name, search: readListSearch({ ...search }) }] : [],
    );
  } catch {
    return [];
  }
}

const subscribe = (listener: () => void) => {
  window.addEventListener('storage', listener);
  return () => window.removeEventListener('storage', listener);
};

/** The views of the user, and a function that stores others instead. */
function useViews() {
  const { data } = useMe();
  const key = `${KEY} ${data?.workspace.id ?? 0} ${data?.user.id ?? 0}`;
  const text = useSyncExternalStore(subscribe, () => localStorage.getItem(key));
  const store = (next: SavedView[]) => {
    localStorage.setItem(key, JSON.stringify(next));
    // Browsers tell the other tabs only.
    window.dispatchEvent(new StorageEvent('storage', { key }));
  };
  return [useMemo(() => parse(text), [text]), store] as const;
}

/** The filters of the list by names, which this browser keeps. */
export function SavedViews({ search, onChoose }: { search: ListSearch; onChoose: (search: ListSearch) => void }) {
  const [saved, store] = useViews();
  const [name, setName] = useState<string>();
  const current = saved.find((view) => JSON.stringify(view.search) === JSON.stringify(readListSearch({ ...search })));
  const choose = (value: string) => {
    const view = saved[Number(value.slice(1))];
    if (value === 'save') setName('');
    else if (value === 'remove') {
      store(saved.filter((each) => each !== current));
      say('The view is removed.');
    } else if (view) onChoose(view.search);
  };
  const save = (text: string) => {
    store([...saved.filter((view) => view.name !== text), { name: text, search }].slice(-MAX_VIEWS));
    setName(undefined);
  };
  return (
    <>
      <Select
        bare
        label="Saved views"
        options={[
          ['', 'Views'],
          ...saved.map((view, index) => [`=${index}`, view.name] as const),
          current ? ['remove', `Remove “${current.name}”`] : ['save', 'Save this view…'],
        ]}
        value={current ? `=${saved.indexOf(current)}` : ''}
        onValue={choose}
      />
      {name !== undefined && (
        <FormDialog
          title="Save this view"
          label="Save"
          error={null}
          disabled={name.trim() === ''}
          onSubmit={() => save(name.trim())}
          onClose={() => setName(undefined)}
        >
          <Input
            label="Name"
            hint="This browser keeps it: status, filters, dates and order."
            maxLength={MAX_NAME}
            value={name}
            onValue={setName}
          />
        </FormDialog>
      )}
    </>
  );
}
