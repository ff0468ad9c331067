import type { OnCall } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { onCallPath, useOnCall, useWrite } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialogs.tsx';
import { Input, type Options, Select } from '../ui/fields.tsx';
import { formatMoment } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import { Ago } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

const KINDS: Options = [
  ['icalendar', 'A calendar (iCalendar)'],
  ['pagerduty', 'A schedule of PagerDuty'],
];

const CAUSES: ReadonlyMap<string, string> = new Map([
  ['address', 'Its name has no public address.'],
  ['connection', 'Nothing accepts connections there.'],
  ['content', 'It does not have the expected form.'],
  ['key', 'No key opens its address: set it again.'],
  ['timeout', 'It did not answer in time.'],
  ['tls', 'Its certificate is not valid for this name.'],
  ['too_complex', 'It takes too long to read.'],
  ['too_large', 'It is larger than 1 MiB.'],
]);

/** Who is on call for a team, and who is next; who manages teams says where that stands. */
export function OnCallCard({ team, canManage = false }: { team: number; canManage?: boolean }) {
  const query = useOnCall(team);
  return (
    <Card title="On call" padded actions={canManage && query.data && <Manage team={team} {...query.data.on_call} />}>
      <Loaded query={query}>{({ on_call: onCall }) => <People {...onCall} />}</Loaded>
    </Card>
  );
}

function People({ source, url, now, next, fetched_at: fetched, failure }: OnCall) {
  if (source === null) return <p className={ui.muted}>The team has no calendar or schedule that says it.</p>;
  return (
    <>
      <dl className={ui.terms}>
        <dt>Now</dt>
        <dd>{named(now, 'Nobody', ({ until }) => `until ${formatMoment(until)}`)}</dd>
        <dt>Next</dt>
        <dd>{named(next, 'Nobody within eight weeks', ({ from }) => `from ${formatMoment(from)}`)}</dd>
        <dt>Read</dt>
        <dd>
          <Ago time={fetched} /> from {url}
        </dd>
      </dl>
      {failure && (
        <p className={ui.fault}>
          It cannot be read.{' '}
          {failure.status !== null && failure.reason === 'status' && `It answered ${failure.status}.`}
          {CAUSES.get(failure.reason)} The first failure was <Ago time={failure.since} />.
        </p>
      )}
    </>
  );
}

type Person = OnCall['now'][number];

const named = (people: readonly Person[], none: string, when: (person: Person) => string): ReactNode =>
  people.length === 0
    ? none
    : people.map((person) => (
        <p key={`${person.user_id} ${person.name} ${person.from}`}>
          {person.name}{' '}
          <span className={ui.muted}>{`${person.user_id === null ? '(no user) ' : ''}${when(person)}`}</span>
        </p>
      ));

function Manage({ team, source, schedule_id: schedule }: OnCall & { team: number }) {
  const path = onCallPath(team);
  const [shown, setShown] = useState<'dialog' | 'removal'>();
  const removal = useWrite<unknown>(path);
  const close = () => setShown(undefined);
  const button = (label: string, what: typeof shown) => (
    <Button kind="quiet" small onClick={() => setShown(what)}>
      {label}
    </Button>
  );
  return (
    <>
      {button(source === null ? 'Say who is on call' : 'Change', 'dialog')}
      {source !== null && button('Remove', 'removal')}
      {shown === 'dialog' && (
        <SourceDialog path={path} kind={source ?? 'icalendar'} schedule={schedule ?? ''} onClose={close} />
      )}
      {shown === 'removal' && (
        <Confirm
          title="Remove who is on call?"
          label="Remove"
          busy={removal.isPending}
          error={removal.error}
          onClose={close}
          onSubmit={() => removal.mutate({ method: 'DELETE', path }, { onSuccess: close })}
        >
          Tocsin forgets the address, and nobody is on call for the team.
        </Confirm>
      )}
    </>
  );
}

function SourceDialog({
  path,
  kind,
  schedule,
  onClose,
}: {
  path: string;
  kind: string;
  schedule: string;
  onClose: () => void;
}) {
  return (
    <EditDialog
      title="Who is on call?"
      initial={{ kind, url: '', schedule_id: schedule, credential: '' }}
      request={({ kind: chosen, url, schedule_id, credential }) => {
        const given: Record<string, string> = chosen === 'icalendar' ? { url } : { url, schedule_id, credential };
        const filled = Object.entries(given).filter(([, value]) => value.trim() !== '');
        return { method: 'PUT', path, body: { kind: chosen, ...Object.fromEntries(filled) } };
      }}
      refreshes={[path]}
      onClose={onClose}
    >
      {(bind, { kind: chosen }) => (
        <>
          <Select label="Where does it stand?" options={KINDS} {...bind('kind')} />
          {chosen === 'pagerduty' && (
            <>
              <Input label="ID of the schedule" placeholder="PI7DH85" spellCheck={false} {...bind('schedule_id')} />
              <Input
                label="Key of the REST API"
                hint="A read-only key is enough. It is not shown again."
                spellCheck={false}
                {...bind('credential')}
              />
            </>
          )}
          <Input
            label="Address"
            type="url"
            hint={
              chosen === 'pagerduty'
                ? 'Empty: https://api.pagerduty.com'
                : 'The iCalendar address of the schedule. Only its host is shown again.'
            }
            {...bind('url')}
          />
        </>
      )}
    </EditDialog>
  );
}
