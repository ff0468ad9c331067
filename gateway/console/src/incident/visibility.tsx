import { type Incident, type IncidentAccess, TocsinError } from '@tocsin/sdk';
import { useState } from 'react';
import { failureOf } from '../api/failures.ts';
import { useAccess, useActorOf, useList, useNameOf, usePeople, useTeams } from '../api/hooks.ts';
import { useDescribe } from '../incidents/describe.ts';
import { Button } from '../ui/button.tsx';
import { Confirm, FormDialog } from '../ui/dialogs.tsx';
import { Checks, choices, withStored } from '../ui/fields.tsx';
import { plural } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { Loaded, More } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { Term } from './editable.tsx';
import css from './editable.module.css';
import { useEditedIncident, viewersOf } from './save-incident.tsx';

type Viewers = Incident['visible_to'];

export const NOBODY: Viewers = { users: [], teams: [] };

/** Chooses the people and teams who see a restricted incident besides those who work on it. */
export function ViewersInput({
  value,
  stored,
  onValue,
}: {
  value: Viewers;
  stored: Viewers;
  onValue: (value: Viewers) => void;
}) {
  const nameOf = useNameOf();
  const { data: people = [] } = usePeople();
  const { data: teams = [] } = useTeams();
  const active = people.filter((person) => person.active);
  const kinds = [
    ['users', 'People', choices(active, 'id', 'name'), nameOf],
    ['teams', 'Teams', choices(teams, 'id', 'name'), (id: string) => `Team ${id}`],
  ] as const;
  return kinds
    .map(([kind, label, options, nameOfStored]) => ({
      kind,
      label,
      options: withStored(options, stored[kind].map(String), nameOfStored),
    }))
    .filter(({ options }) => options.length > 0)
    .map(({ kind, ...shown }) => (
      <Checks
        key={kind}
        name={`visible_to.${kind}`}
        className={ui.choices}
        {...shown}
        value={value[kind].map(String)}
        onValue={(ids) => onValue({ ...value, [kind]: ids.map(Number) })}
      />
    ));
}

/** Who sees the incident, and what changes it. */
export function Visibility({ incident }: { incident: Incident }) {
  const { canEdit } = useEditedIncident();
  const { canSeeRestricted } = useAccess();
  const { value } = useDescribe();
  const [isAsked, setAsked] = useState(false);
  const viewers = viewersOf(incident);
  const { restricted } = incident;
  return (
    <>
      <div className={css.term}>
        <dt>Visible to</dt>
        <dd className={ui.row}>
          {restricted ? 'Those who work on it, and owners' : 'Everybody'}
          {canEdit && canSeeRestricted && (
            <Button small onClick={() => setAsked(true)}>
              {restricted ? 'Show to everybody' : 'Restrict'}
            </Button>
          )}
        </dd>
      </div>
      {restricted && (
        <Term
          name="visible_to"
          term="Also visible to"
          value={viewers}
          editor={(draft, set, { stored }) => <ViewersInput value={draft} stored={stored} onValue={set} />}
        >
          {value('visible_to', viewers)}
        </Term>
      )}
      {isAsked && <VisibilityDialog incident={incident} onClose={() => setAsked(false)} />}
    </>
  );
}

/** The IDs of those who see the incident while it is restricted, as those who work on it. */
const workersOn = ({ created_by: declarer, incident_manager: lead, incident_responders: responders }: Incident) => [
  ...new Set([declarer, lead, ...responders].filter((id) => id !== '')),
];

/** Asks before an incident is restricted, and before everybody sees it again. */
function VisibilityDialog({ incident, onClose }: { incident: Incident; onClose: () => void }) {
  const { save } = useEditedIncident();
  const { user, seesAllRestricted } = useAccess();
  const nameOf = useNameOf();
  // What others change meanwhile is compared with what was shown.
  const [shown] = useState(incident);
  const [draft, setDraft] = useState(viewersOf(shown));
  const [state, setState] = useState<'rest' | 'busy' | TocsinError>('rest');
  const { human_id: reference, restricted, revision, slack_channel_id: channel } = shown;
  const workers = workersOn(shown);
  const isAdded = user !== undefined && !seesAllRestricted && !workers.includes(String(user.id));
  const viewers = { ...draft, users: isAdded ? [...new Set([...draft.users, user.id])] : draft.users };
  const submit = async () => {
    setState('busy');
    const changes = restricted ? { restricted: false } : { restricted: true, visible_to: viewers };
    try {
      const isSettled = await save({ changes, base: { restricted, visible_to: viewersOf(shown) }, revision });
      if (isSettled) onClose();
      else setState('rest');
    } catch (error) {
      setState(failureOf(error));
    }
  };
  const form = {
    ...{ busy: state === 'busy', error: state instanceof TocsinError ? state : null, onClose },
    onSubmit: () => void submit(),
  };
  if (restricted) {
    return (
      <Confirm title={`Show ${reference} to everybody`} label="Show to everybody" {...form}>
        Everybody in the workspace will see it, with its timeline and its history.
      </Confirm>
    );
  }
  return (
    <FormDialog title={`Restrict ${reference}`} label="Restrict" {...form}>
      <p>
        From now on only these see it: {workers.map(nameOf).join(', ')}, its later leads and responders, the owners of
        the workspace, and those chosen here.{isAdded && ' You are added, so that you still see it.'}
      </p>
      <p>
        What was sent before stays sent: messages in the chat, webhooks, emails, and copies that others have made.
        {channel !== '' && ' A public channel stays public, and Tocsin posts nothing more into it.'}
      </p>
      <ViewersInput value={viewers} stored={viewersOf(shown)} onValue={setDraft} />
    </FormDialog>
  );
}

/** Who has read a restricted incident, for those who see all of them. */
export function Accesses({ incidentId }: { incidentId: number }) {
  const list = useList<IncidentAccess>(`/incidents/${incidentId}/accesses`, 'accesses');
  const actorOf = useActorOf();
  return (
    <Card title="Who has read it">
      <Loaded query={list} rows={1}>
        {({ rows }) => (
          <ul>
            {rows.map(({ user_id: user, api_key: key, first_at: first, last_at: last, count }) => (
              <li key={`${user} ${key?.prefix} ${first}`} className={ui.item}>
                {actorOf(String(user), key)}
                <span className={ui.hint}>
                  {plural(count, 'read')}, last <Ago time={last} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <More list={list} />
    </Card>
  );
}
