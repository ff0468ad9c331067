import { TocsinError } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { write, type Write } from '../api/client.ts';
import { failureAt, failureOf } from '../api/failures.ts';
import { listOf, refresh } from '../api/hooks.ts';
import { type Describe, equal, resourceAt, useConflict, type Values } from './conflict.tsx';
import { useDraft } from '../ui/drafts.ts';
import { FormDialog } from '../ui/dialogs.tsx';

/** The request that creates a resource in a list, or changes one on the revision that is shown. */
export const saveTo = (path: string, row: { id: number; revision: number } | undefined): Write =>
  row === undefined ? { path } : { method: 'PATCH', path: `${path}/${row.id}`, revision: row.revision, shown: row };

/** Binds a control to a property of the draft. */
export type Bind<Draft> = <Name extends keyof Draft & string>(
  name: Name,
) => { name: Name; value: Draft[Name]; onValue: (value: Draft[Name]) => void };

/**
 * A dialogue that creates or changes one resource.
 * @param request is made of the draft
 * @param refreshes what it makes old; by default its list
 * @param locate names the field of the form that shows a refusal of a field of the request
 * @param keptAs names the draft, if it is kept until it is sent or cancelled
 */
export function EditDialog<Draft, Reply>({
  title,
  initial,
  request,
  refreshes,
  describe,
  locate = String,
  label = 'Save',
  keptAs,
  onDone,
  onClose,
  children,
}: {
  title: string;
  initial: Draft;
  request: (draft: Draft) => Write | Promise<Write>;
  refreshes?: readonly string[];
  /** Names and values of what two people have changed. */
  describe?: Describe;
  locate?: (field: string, draft: Draft) => string;
  label?: string;
  keptAs?: string;
  onDone?: (reply: Reply) => void;
  onClose: () => void;
  /** @param change sets several properties at once */
  children: (bind: Bind<Draft>, draft: Draft, change: (changes: Partial<Draft>) => void) => ReactNode;
}) {
  const [kept, keep] = useDraft<Draft>(keptAs ?? '');
  const [draft, setShown] = useState(keptAs === undefined ? initial : (kept ?? initial));
  const [state, setState] = useState<'rest' | 'busy' | TocsinError>('rest');
  const { save, conflict } = useConflict(describe);
  const setDraft = (next: Draft) => {
    setShown(next);
    if (keptAs !== undefined) keep(next);
  };
  const forget = () => keptAs !== undefined && keep(undefined);
  const submit = async () => {
    if (state === 'busy') return;
    setState('busy');
    try {
      const change = await request(draft);
      let reply: Reply | undefined;
      if (change.shown === undefined) reply = await write<Reply>(change);
      else if (!(await saveChange(change, await request(initial), save))) {
        setState('rest');
        return;
      }
      forget();
      void refresh(...(refreshes ?? [listOf(change.path)]));
      onClose();
      if (reply !== undefined) onDone?.(reply);
    } catch (error) {
      const failure = failureOf(error);
      setState(failure.field === undefined ? failure : failureAt(locate(failure.field, draft), failure));
    }
  };
  const bind: Bind<Draft> = (name) => ({
    name,
    value: draft[name],
    onValue: (value) => setDraft({ ...draft, [name]: value }),
  });
  return (
    <FormDialog
      title={title}
      error={state instanceof TocsinError ? state : null}
      label={label}
      busy={state === 'busy'}
      onSubmit={() => void submit()}
      onClose={onClose}
      onCancel={() => {
        forget();
        onClose();
      }}
    >
      {children(bind, draft, (changes) => setDraft({ ...draft, ...changes }))}
      {conflict}
    </FormDialog>
  );
}

/** Saves what the draft changes of a resource, on what was shown. @returns whether that is settled. @throws TocsinError */
async function saveChange(
  { path, body, revision = 0, shown = {} }: Write,
  initial: Write,
  save: ReturnType<typeof useConflict>['save'],
): Promise<boolean> {
  const before = initial.body as Values;
  const changes = Object.fromEntries(Object.entries(body as Values).filter(([name, to]) => !equal(to, before[name])));
  if (Object.keys(changes).length === 0) return true;
  return save({ changes, base: shown as Values, revision }, resourceAt(path));
}
