import type { ApiKey } from '@tocsin/sdk';
import { type ReactNode, useState } from 'react';
import { useAccess, useMe } from '../api/hooks.ts';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { SecretDialog } from '../ui/dialogs.tsx';
import { Checks, Input, Select } from '../ui/fields.tsx';
import { toLocalInput } from '../ui/format.ts';
import ui from '../ui/ui.module.css';

export const KEYS = '/settings/api-keys';

type Scope = ApiKey['scopes'][number];

/** What each scope allows. */
const ALLOWS = new Map<string, string>([
  ['incidents:read', 'Read incidents'],
  ['incidents:write', 'Declare and change incidents'],
  ['slack_context:read', 'Read what is said in Slack'],
  ['services:read', 'Read services'],
  ['services:write', 'Change services'],
  ['teams:read', 'Read teams'],
  ['teams:write', 'Change teams'],
  ['custom_fields:read', 'Read custom fields'],
  ['custom_fields:write', 'Change custom fields'],
  ['webhooks:manage', 'Manage webhooks'],
  ['users:read', 'Read names of people'],
  ['users:write', 'Invite and change people'],
  ['users:manage', 'Manage people from a directory'],
  ['api_keys:manage', 'Make and revoke keys'],
  ['configuration:read', 'Read the configuration'],
  ['configuration:write', 'Change the configuration'],
  ['imports:write', 'Import history'],
  ['alerts:write', 'Send alerts'],
  ['restricted:read', 'See restricted incidents'],
]);

/** What a scope allows, and its name. */
export const ScopeName = ({ scope }: { scope: string }) => (
  <span>
    {ALLOWS.get(scope)} <code>{scope}</code>
  </span>
);

const PRESETS = {
  chosen: ['What I choose', ['incidents:read']],
  monitor: ['A monitor', ['alerts:write']],
  ci: [
    'CI and deployments',
    ['incidents:read', 'incidents:write', 'services:read', 'teams:read', 'custom_fields:read', 'configuration:read'],
  ],
  reader: [
    'Reading only',
    ['incidents:read', 'services:read', 'teams:read', 'custom_fields:read', 'users:read', 'configuration:read'],
  ],
} as const satisfies Record<string, readonly [name: string, scopes: readonly Scope[]]>;

/** What a key is for, which chooses its scopes. */
export type Preset = keyof typeof PRESETS;

const DAY = 86_400_000;
/** Days until a key expires. */
const DAYS = [7, 30, 90, 365];
/** Those that nobody exceeds who does not manage the workspace. */
const MAX_DAYS = 90;
const ON_DATE = 'date';

interface Draft {
  preset: Preset;
  name: string;
  scopes: string[];
  expires: string;
  date: string;
}

/** The dialogue of a new key, and its token, which is shown once. */
export function useNewKey(): {
  /** @param name the first text of its name */
  make: (preset?: Preset, name?: string) => void;
  /** Shows the token of a key that was replaced. */
  show: (token: string) => void;
  /** Of the last key, until the page is left. */
  token: string | undefined;
  dialogs: ReactNode;
} {
  const [begun, setBegun] = useState<{ preset: Preset; name: string }>();
  const [token, setToken] = useState<string>();
  const [isShown, setShown] = useState(false);
  const show = (next: string) => {
    setToken(next);
    setShown(true);
  };
  const dialogs = (
    <>
      {begun !== undefined && <NewKey {...begun} onToken={show} onClose={() => setBegun(undefined)} />}
      {isShown && token !== undefined && (
        <SecretDialog title="The token of the key" label="Token" value={token} onClose={() => setShown(false)}>
          Copy it now: it is not shown again.
        </SecretDialog>
      )}
    </>
  );
  return { make: (preset = 'chosen', name = '') => setBegun({ preset, name }), show, token, dialogs };
}

function NewKey({
  preset: first,
  name: firstName,
  onToken,
  onClose,
}: {
  preset: Preset;
  name: string;
  onToken: (token: string) => void;
  onClose: () => void;
}) {
  const allowed = useMe().data?.api_key.scopes ?? [];
  const { canManage } = useAccess();
  const scopesOf = (preset: Preset) => PRESETS[preset][1].filter((scope) => allowed.includes(scope));
  const days = DAYS.filter((count) => canManage || count < MAX_DAYS);
  return (
    <EditDialog<Draft, { token: string }>
      title="New API key"
      label="Create"
      initial={{ preset: first, name: firstName, scopes: scopesOf(first), expires: '', date: dayAfter(30) }}
      request={({ name, scopes, expires, date }) => ({
        path: KEYS,
        body: { name, scopes, ...(expires !== '' && { expires_at: expiryOf(expires, date) }) },
      })}
      onDone={({ token }) => onToken(token)}
      onClose={onClose}
    >
      {(bind, { expires }, change) => (
        <>
          <Input label="What is it for?" {...bind('name')} />
          <Select<Preset>
            label="Who uses it"
            options={Object.entries(PRESETS).map(([key, [text]]) => [key as Preset, text])}
            {...bind('preset')}
            onValue={(preset) => change({ preset, scopes: scopesOf(preset) })}
          />
          <Checks
            label="It may"
            className={ui.scopes}
            options={allowed.map((scope) => [scope, <ScopeName key={scope} scope={scope} />])}
            {...bind('scopes')}
          />
          <Select
            label="It expires"
            options={[
              ['', canManage ? 'Never' : `After ${MAX_DAYS} days`],
              ...days.map((count) => [String(count), `After ${count} days`] as const),
              [ON_DATE, 'On a date'],
            ]}
            {...bind('expires')}
            name="expires_at"
          />
          {expires === ON_DATE && <Input label="Last day" type="date" {...bind('date')} />}
        </>
      )}
    </EditDialog>
  );
}

/** The day after so many days, for a field. */
const dayAfter = (days: number) => toLocalInput(new Date(Date.now() + days * DAY).toISOString()).slice(0, 10);

/** The end of the last day in the time zone of the browser, or so many days from now. */
const expiryOf = (expires: string, date: string): string => {
  if (expires !== ON_DATE) return new Date(Date.now() + Number(expires) * DAY).toISOString();
  const end = new Date(`${date}T23:59:59`);
  // The server says what a date lacks.
  return Number.isNaN(end.getTime()) ? date : end.toISOString();
};
