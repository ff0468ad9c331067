import type { SavedViews as Stored, TocsinError } from '@tocsin/sdk';
import { useEffect, useEffectEvent, useState } from 'react';
import { refresh, useGet, useMe, useWrite } from '../api/hooks.ts';
import { FormDialog } from '../ui/dialogs.tsx';
import { Input, Select } from '../ui/fields.tsx';
import { say } from '../ui/toast.tsx';
import { type ListSearch, readListSearch } from './incident-filters.ts';

interface SavedView {
  name: string;
  search: ListSearch;
}

const PATH = '/users/me/views';
const MAX_VIEWS = 50;
const MAX_NAME = 60;
const MAX_SEARCH = 2_048;

/** A search in the form in which it is stored. Keys have an order, so that equal ones are the same text. */
const toText = (search: ListSearch): string => JSON.stringify(readListSearch({ ...search }));

/** Any client may store a text: what is no search of this page is left out. */
export function readSearch(text: string): ListSearch {
  try {
    return readListSearch({ ...(JSON.parse(text) as Record<string, unknown>) });
  } catch {
    return {};
  }
}

/** The views that earlier releases kept in the browser, for the user of a workspace. */
function takeOldViews(key: string): SavedView[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return (Array.isArray(list) ? (list as Partial<SavedView>[]) : []).flatMap(({ name, search }) =>
      typeof name === 'string' ? [{ name, search: readListSearch({ ...search }) }] : [],
    );
  } catch {
    return [];
  }
}

/** The views of the user, and a function that stores others instead; `current` is undefined until they are read. */
function useViews() {
  const { data: me } = useMe();
  const { data } = useGet<{ saved_views: Stored }>(PATH);
  const { mutate, isPending } = useWrite<{ saved_views: Stored }>(PATH);
  const { revision, views = [] } = data?.saved_views ?? {};
  const saved = views.map(({ name, search }): SavedView => ({ name, search: readSearch(search) }));
  const store = (next: readonly SavedView[], onSuccess: () => void) => {
    const body = { views: next.slice(-MAX_VIEWS).map(({ name, search }) => ({ name, search: toText(search) })) };
    const onError = (failure: TocsinError) => {
      // Another browser was faster: the next attempt is based on its views.
      void refresh(PATH);
      say(failure.status === 412 ? 'Your views were changed in another browser. Try again.' : failure.message);
    };
    mutate({ method: 'PUT', path: PATH, revision, body }, { onSuccess, onError });
  };
  const key = me === undefined ? undefined : `views ${me.workspace.id} ${me.user.id}`;
  const isRead = revision !== undefined;
  const moveOld = useEffectEvent(() => {
    if (key === undefined || localStorage.getItem(key) === null) return;
    const names = new Set(saved.map(({ name }) => name));
    const old = takeOldViews(key)
      .map(({ name, search }) => ({ name: [...name.trim()].slice(0, MAX_NAME).join(''), search }))
      .filter(({ name, search }) => name !== '' && !names.has(name) && toText(search).length <= MAX_SEARCH);
    // They stay in the browser until they are stored.
    if (old.length === 0) localStorage.removeItem(key);
    else store([...old, ...saved], () => localStorage.removeItem(key));
  });
  useEffect(() => {
    if (isRead && key !== undefined) moveOld();
  }, [isRead, key]);
  return { saved, store, isPending };
}

/** The filters of the list by names, which each user has in every browser. */
export function SavedViews({ search, onChoose }: { search: ListSearch; onChoose: (search: ListSearch) => void }) {
  const { saved, store, isPending } = useViews();
  const [name, setName] = useState<string>();
  const text = toText(search);
  const current = saved.find((view) => toText(view.search) === text);
  const choose = (value: string) => {
    const view = saved[Number(value.slice(1))];
    if (value === 'save') setName('');
    else if (value === 'remove') {
      store(
        saved.filter((each) => each !== current),
        () => say('The view is removed.'),
      );
    } else if (view) onChoose(view.search);
  };
  const save = (called: string) =>
    store([...saved.filter((view) => view.name !== called), { name: called, search }], () => setName(undefined));
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
          busy={isPending}
          disabled={name.trim() === ''}
          onSubmit={() => save(name.trim())}
          onClose={() => setName(undefined)}
        >
          <Input
            label="Name"
            hint="You have it in every browser: status, filters, dates and order."
            maxLength={MAX_NAME}
            value={name}
            onValue={setName}
          />
        </FormDialog>
      )}
    </>
  );
}
