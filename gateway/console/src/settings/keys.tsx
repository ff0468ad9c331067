import type { ApiKey, Session } from '@tocsin/sdk';
import { useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useMe, useNameOf, useWrite } from '../api/hooks.ts';
import { useEndSession } from '../sign-in/session.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { plural } from '../ui/format.ts';
import { ResourceList } from '../resources/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm, SecretDialog } from '../ui/dialogs.tsx';
import { Checks, Input } from '../ui/fields.tsx';
import { Page } from '../ui/layout.tsx';
import { Empty } from '../ui/states.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

const KEYS = '/settings/api-keys';
const SESSIONS = '/settings/sessions';

const hasEnded = ({ revoked_at: revoked, expires_at: expires }: ApiKey) =>
  revoked !== null || (expires !== null && Date.parse(expires) <= Date.now());

export function KeysPage() {
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<string>();
  return (
    <Page
      title="Keys and sessions"
      guide="api-keys"
      lead="How programs, browsers and agents act for people. What has ended can do nothing any more."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New key
        </Button>
      }
    >
      <div className={ui.stack}>
        <Keys onToken={setToken} />
        <Sessions />
      </div>
      {isCreating && <NewKey onToken={setToken} onClose={() => setCreating(false)} />}
      {token !== undefined && (
        <SecretDialog title="The token of the key" label="Token" value={token} onClose={() => setToken(undefined)}>
          Copy it now: it is not shown again.
        </SecretDialog>
      )}
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
          ['Scopes', ({ scopes }) => <span title={scopes.join(', ')}>{plural(scopes.length, 'scope')}</span>],
          ['Last used', ({ last_used_at: time }) => <Ago time={time} />],
          ['State', (key) => (hasEnded(key) ? <Badge>Ended</Badge> : <Badge tone="good">Valid</Badge>)],
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

function NewKey({ onToken, onClose }: { onToken: (token: string) => void; onClose: () => void }) {
  const scopes = useMe().data?.api_key.scopes ?? [];
  return (
    <EditDialog<{ name: string; scopes: string[] }, { token: string }>
      title="New API key"
      label="Create"
      initial={{ name: '', scopes: ['incidents:read'] }}
      request={(body) => ({ path: KEYS, body })}
      onDone={({ token }) => onToken(token)}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <Input label="What is it for?" {...bind('name')} />
          <Checks
            label="It may"
            className={ui.scopes}
            options={scopes.map((scope) => [scope, <code key={scope}>{scope}</code>])}
            {...bind('scopes')}
          />
        </>
      )}
    </EditDialog>
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
