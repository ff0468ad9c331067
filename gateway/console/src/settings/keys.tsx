import type { ApiKey, Session } from '@tocsin/sdk';
import { useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useNameOf, useWrite } from '../api/hooks.ts';
import { useEndSession } from '../sign-in/session.ts';
import { formatDay, plural } from '../ui/format.ts';
import { ResourceList } from '../resources/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/dialogs.tsx';
import { Page } from '../ui/layout.tsx';
import { Empty } from '../ui/states.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { KEYS, ScopeName, useNewKey } from './new-key.tsx';

const SESSIONS = '/settings/sessions';

const hasEnded = ({ revoked_at: revoked, expires_at: expires }: ApiKey) =>
  revoked !== null || (expires !== null && Date.parse(expires) <= Date.now());

export function KeysPage() {
  const { make, show, dialogs } = useNewKey();
  return (
    <Page
      title="Keys and sessions"
      guide="api-keys"
      lead="How programs, browsers and agents act for people. What has ended can do nothing any more."
      actions={
        <Button kind="primary" icon="plus" onClick={() => make()}>
          New key
        </Button>
      }
    >
      <div className={ui.stack}>
        <Keys onToken={show} />
        <Sessions />
      </div>
      {dialogs}
    </Page>
  );
}

function Keys({ onToken }: { onToken: (token: string) => void }) {
  const nameOf = useNameOf();
  const act = useWrite<{ token?: string }>(KEYS);
  const [revoked, setRevoked] = useState<ApiKey>();
  const send = (key: ApiKey, verb: 'rotate' | 'revoke') =>
    act.mutate(
      { path: `${KEYS}/${key.id}/${verb}`, ...(verb === 'rotate' && { body: { overlap_hours: 1 } }) },
      {
        onSuccess: ({ token }) => {
          setRevoked(undefined);
          if (token !== undefined) onToken(token);
        },
        // The dialogue that asks before says why.
        onError: (error) => verb === 'rotate' && sayError(error),
      },
    );
  return (
    <>
      <ResourceList<ApiKey>
        title="API keys"
        path={KEYS}
        property="api_keys"
        empty={<Empty title="No key so far" icon="key" />}
        columns={[
          ['Name', ({ name, prefix }) => <Named name={name} about={<code>{prefix}…</code>} />],
          ['Acts for', ({ user_id: id }) => nameOf(id)],
          ['It may', ({ scopes }) => <Scopes scopes={scopes} />],
          ['Last used', ({ last_used_at: time }) => <Ago time={time} />],
          ['State', (key) => <State {...key} />],
        ]}
        actions={(key) =>
          !hasEnded(key) && (
            <>
              <Button
                kind="quiet"
                small
                title="A new token; the old one stays valid for an hour"
                onClick={() => send(key, 'rotate')}
              >
                Replace
              </Button>
              <Button
                kind="quiet"
                small
                onClick={() => {
                  act.reset();
                  setRevoked(key);
                }}
              >
                Revoke
              </Button>
            </>
          )
        }
      />
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.name}?`}
          label="Revoke"
          busy={act.isPending}
          error={act.error}
          onClose={() => setRevoked(undefined)}
          onSubmit={() => send(revoked, 'revoke')}
        >
          Programs with this key are refused within a second. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

function Scopes({ scopes }: Pick<ApiKey, 'scopes'>) {
  const [first] = scopes;
  if (first !== undefined && scopes.length === 1) return <ScopeName scope={first} />;
  return (
    <details>
      <summary>{plural(scopes.length, 'scope')}</summary>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>
            <ScopeName scope={scope} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function State(key: ApiKey) {
  if (hasEnded(key)) return <Badge>Ended</Badge>;
  return (
    <>
      <Badge tone="good">Valid</Badge>
      {key.expires_at !== null && <p className={ui.muted}>{`Expires on ${formatDay(key.expires_at)}`}</p>}
    </>
  );
}

function Sessions() {
  const nameOf = useNameOf();
  const end = useEndSession();
  return (
    <ResourceList<Session>
      title="Sessions and agents"
      path={SESSIONS}
      property="sessions"
      actions={(session) => (
        <Button kind="quiet" small onClick={() => end.mutate(session, { onError: sayError })}>
          End
        </Button>
      )}
      columns={[
        [
          'Browser or agent',
          ({ name, kind, current }) => <Named name={name} about={current ? 'This one' : kind === 'agent' && 'Agent'} />,
        ],
        ['Signed in', ({ user_id: id }) => nameOf(id)],
        ['Since', ({ created_at: time }) => <Ago time={time} />],
        ['Last used', ({ last_used_at: time }) => <Ago time={time} />],
      ]}
    />
  );
}
