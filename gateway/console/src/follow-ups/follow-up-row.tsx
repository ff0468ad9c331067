import type { FollowUp } from '@tocsin/sdk';
import { type ReactNode, useMemo, useState } from 'react';
import { sayError } from '../api/failures.ts';
import { refresh, useContentKey, useNameOf, usePeople } from '../api/hooks.ts';
import { Button, classes } from '../ui/button.tsx';
import { resourceAt, useConflict } from '../resources/conflict.tsx';
import { DeleteDialog } from '../resources/delete-dialog.tsx';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { choices, Input, Select, TextArea, withStored } from '../ui/fields.tsx';
import { formatDay } from '../ui/format.ts';
import { Markdown, SafeLink } from '../ui/markdown.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { useDescribe } from '../incidents/describe.ts';
import { toDay } from '../incidents/incident-filters.ts';
import { TicketActions, TicketFacts } from './ticket.tsx';

/** The local day. */
export const today = (): string => toDay(new Date().toISOString());

/** What a write of a follow-up makes old. */
const listsOf = (incidentId: number) => [`/incidents/${incidentId}/follow-ups`, '/follow-ups'];

/** What is open has none, unless it is overdue. */
function StatusBadge({ status, due_on: due }: FollowUp) {
  if (status === 'done') return <Badge tone="good">Done</Badge>;
  if (status === 'dropped') return <Badge>Dropped</Badge>;
  return due !== null && due < today() ? <Badge tone="bad">Overdue</Badge> : null;
}

/** A follow-up, with what can be done with it. */
export function FollowUpRow({
  followUp,
  canEdit,
  children,
}: {
  followUp: FollowUp;
  canEdit: boolean;
  /** What it belongs to, on a page of several. */
  children?: ReactNode;
}) {
  const { id, incident_id: incidentId, title, description, owner, due_on: due, status, external_url: url } = followUp;
  const nameOf = useNameOf();
  const { save, conflict } = useConflict(useDescribe());
  const [isEdited, setEdited] = useState(false);
  const [deleted, setDeleted] = useState<FollowUp>();
  const path = `/follow-ups/${id}`;
  const lists = useMemo(() => listsOf(incidentId), [incidentId]);
  const isOpen = status === 'open';
  const set = async (next: FollowUp['status']) => {
    const edit = { changes: { status: next }, base: { ...followUp }, revision: followUp.revision };
    await save(edit, resourceAt(path)).catch(sayError);
    await refresh(...listsOf(incidentId));
  };
  const button = (label: string, run: () => void) => (
    <Button kind="quiet" small onClick={run}>
      {label}
    </Button>
  );
  return (
    <li className={classes(ui.item, children !== undefined && ui.spread)}>
      <p>
        <span className={isOpen ? ui.strong : ui.muted}>{title}</span> <StatusBadge {...followUp} />
      </p>
      <p className={ui.facts}>
        {children && <span className={ui.short}>{children}</span>}
        <span>{nameOf(owner) || 'Nobody'}</span>
        {due !== null && <span>due {formatDay(`${due}T00:00`)}</span>}
        {url && (
          <span>
            <SafeLink href={url}>{URL.parse(url)?.host ?? url}</SafeLink>
          </span>
        )}
        <TicketFacts followUp={followUp} lists={lists} />
      </p>
      {description && (
        <details>
          <summary>Description</summary>
          <Markdown text={description} />
        </details>
      )}
      {canEdit && (
        <div className={ui.itemActions}>
          {isOpen ? (
            <>
              {button('Done', () => void set('done'))}
              {button('Drop', () => void set('dropped'))}
            </>
          ) : (
            button('Reopen', () => void set('open'))
          )}
          <TicketActions followUp={followUp} lists={lists} />
          {button('Edit', () => setEdited(true))}
          {button('Delete', () => setDeleted(followUp))}
        </div>
      )}
      {isEdited && <FollowUpDialog incidentId={incidentId} followUp={followUp} onClose={() => setEdited(false)} />}
      {deleted && (
        <DeleteDialog
          what="follow-up"
          path={path}
          row={deleted}
          text={(row) => row.title}
          onRow={setDeleted}
          onDone={async () => refresh(...listsOf(incidentId))}
        />
      )}
      {conflict}
    </li>
  );
}

export function FollowUpDialog({
  incidentId,
  followUp,
  onClose,
}: {
  incidentId: number;
  followUp?: FollowUp;
  onClose: () => void;
}) {
  const people = usePeople().data?.filter(({ active }) => active) ?? [];
  const nameOf = useNameOf();
  const describe = useDescribe();
  const key = useContentKey();
  return (
    <EditDialog
      title={followUp === undefined ? 'New follow-up' : 'Edit the follow-up'}
      label={followUp === undefined ? 'Add' : 'Save'}
      keptAs={followUp === undefined ? `${incidentId} follow-up` : undefined}
      describe={describe}
      initial={{
        title: followUp?.title ?? '',
        owner: followUp?.owner ?? '',
        due_on: followUp?.due_on ?? '',
        external_url: followUp?.external_url ?? '',
        description: followUp?.description ?? '',
      }}
      request={(draft) => {
        const body = { ...draft, due_on: draft.due_on === '' ? null : draft.due_on };
        if (followUp !== undefined) return { ...saveTo('/follow-ups', followUp), body };
        return { path: `/incidents/${incidentId}/follow-ups`, key: key.of(JSON.stringify(body)), body };
      }}
      refreshes={listsOf(incidentId)}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <Input label="What is to be done?" maxLength={255} {...bind('title')} />
          <div className={ui.pair}>
            <Select
              label="Owner"
              options={withStored([['', 'Nobody'], ...choices(people, 'id', 'name')], [followUp?.owner ?? ''], nameOf)}
              {...bind('owner')}
            />
            <Input label="Due" type="date" {...bind('due_on')} />
          </div>
          <Input
            label="Link"
            hint="Such as that of a ticket; it begins with https://."
            type="url"
            maxLength={2048}
            {...bind('external_url')}
          />
          <TextArea label="Description" maxLength={10_000} {...bind('description')} />
        </>
      )}
    </EditDialog>
  );
}
