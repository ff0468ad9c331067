import type { Incident } from '@tocsin/sdk';
import { useState } from 'react';
import { ApiError, failureOf, read, write } from '../api/client.ts';
import { refresh, useConfiguration } from '../api/hooks.ts';
import { Button, classes } from '../ui/button.tsx';
import { Confirm, FormDialog } from '../ui/dialogs.tsx';
import { useDraft } from '../ui/drafts.ts';
import { TextArea } from '../ui/fields.tsx';
import { plural } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import ui from '../ui/ui.module.css';
import { useKeys } from '../ui/use-keys.ts';
import css from './incident.module.css';

const NOTES = { resolve: 'resolution_note', close: 'close_note', reopen: 'reopen_note' } as const;
type Verb = keyof typeof NOTES;
const LABELS: Record<Verb, string> = { resolve: 'Resolve', close: 'Close', reopen: 'Reopen' };
const DONE = { resolve: 'resolved', close: 'closed', reopen: 'open again', archive: 'archived', restore: 'restored' };
const HINTS: Record<Verb, string> = {
  resolve: 'The incident becomes a postmortem: something to learn from.',
  close: 'Nothing more will happen here.',
  reopen: 'It goes on.',
};

/** What can be done with an incident; on a phone, the most frequent is in a bar that stays. */
export function Verbs({ incident, isOver }: { incident: Incident; isOver: boolean }) {
  const { statuses } = useConfiguration();
  /** With the status that its author has seen. */
  const [asked, setAsked] = useState<{ verb: Verb | 'archive'; status: string }>();
  const [note = '', setNote] = useDraft<string>(`${incident.id} verb`);
  const [state, setState] = useState<'rest' | 'busy' | ApiError>('rest');
  const path = `/incidents/${incident.id}`;
  const ask = (verb: Verb | 'archive') => setAsked({ verb, status: incident.status });
  const close = () => {
    setAsked(undefined);
    setState('rest');
  };
  const checkStatus = async ({ verb, status }: { verb: Verb; status: string }) => {
    const { incident: stored } = await read<{ incident: Incident }>(path);
    if (stored.status === status) return;
    setAsked({ verb, status: stored.status });
    const label = statuses.find(({ key }) => key === stored.status)?.label ?? stored.status;
    throw new ApiError(412, { message: `Somebody else set the status to ${label} meanwhile. ${LABELS[verb]} anyway?` });
  };
  const send = async (verb: keyof typeof DONE, seen?: string) => {
    setState('busy');
    try {
      const isNoted = verb !== 'archive' && verb !== 'restore';
      if (isNoted && seen !== undefined) await checkStatus({ verb, status: seen });
      await write({ path: `${path}/${verb}`, body: isNoted && note.trim() !== '' ? { [NOTES[verb]]: note } : {} });
      if (isNoted) setNote(undefined);
      close();
      say(`${incident.human_id} is ${DONE[verb]}.`);
      void refresh('/incidents');
    } catch (error) {
      setState(failureOf(error));
    }
  };
  const canReopen = isOver && ['resolved', 'closed'].includes(incident.status);
  const verbs: readonly Verb[] = isOver ? (canReopen ? ['reopen'] : []) : ['resolve', 'close'];
  const [first] = verbs;
  const isArchived = incident.archived_at !== null;
  useKeys({ r: !isArchived && first !== undefined && (() => ask(first)) });
  if (isArchived) {
    return (
      <div className={classes(ui.row, css.verbs)}>
        <Button busy={state === 'busy'} onClick={() => void send('restore')}>
          Restore
        </Button>
      </div>
    );
  }
  const form = asked && {
    title: `${asked.verb === 'archive' ? 'Archive' : LABELS[asked.verb]} ${incident.human_id}`,
    label: asked.verb === 'archive' ? 'Archive' : LABELS[asked.verb],
    busy: state === 'busy',
    error: state instanceof ApiError ? state : null,
    onClose: close,
    onSubmit: () => void send(asked.verb, asked.status),
  };
  return (
    <div className={classes(ui.row, css.verbs)}>
      {verbs.map((verb, index) => (
        <span key={verb} className={index === 0 ? css.first : undefined}>
          <Button kind={index === 0 && !isOver ? 'primary' : 'normal'} onClick={() => ask(verb)}>
            {LABELS[verb]}
          </Button>
        </span>
      ))}
      <Button kind="quiet" onClick={() => ask('archive')}>
        Archive
      </Button>
      <div className={css.bar} role="group" aria-label="Most frequent">
        <Button icon="plus" onClick={() => document.querySelector<HTMLElement>('#write textarea')?.focus()}>
          Add
        </Button>
        {first && (
          <Button kind={isOver ? 'normal' : 'primary'} onClick={() => ask(first)}>
            {LABELS[first]}
          </Button>
        )}
      </div>
      {form && asked.verb === 'archive' && (
        <Confirm {...form}>
          It leaves the lists with its {plural(incident.event_count, 'event')} and cannot be changed until it is
          restored.
        </Confirm>
      )}
      {form && asked.verb !== 'archive' && (
        <FormDialog
          {...form}
          onCancel={() => {
            setNote(undefined);
            close();
          }}
        >
          <TextArea
            label="Note for the timeline"
            name={NOTES[asked.verb]}
            hint={HINTS[asked.verb]}
            value={note}
            onValue={(text) => setNote(text === '' ? undefined : text)}
          />
        </FormDialog>
      )}
    </div>
  );
}
