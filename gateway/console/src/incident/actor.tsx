import type { ChangelogEntry, Incident, ListTimelineEventsReply } from '@tocsin/sdk';
import { createContext, useContext, useMemo } from 'react';
import { useAccess, useGet, useNameOf } from '../api/hooks.ts';
import { Icon } from '../ui/icon.tsx';
import ui from '../ui/ui.module.css';
import css from './activity.module.css';

type RecordedKey = NonNullable<ChangelogEntry['api_key']>;

/** Whether a key acted, and no person in a session. */
export const isKey = (key: ChangelogEntry['api_key']): key is RecordedKey =>
  key !== null && !key.prefix.startsWith('tcn_');

/** The prefixes of the keys that are monitors of the incident. */
export const MonitorKeys = createContext<ReadonlySet<string>>(new Set());

/** A key is a monitor because of its alerts; nothing else says that it is one (contract: Alerts). */
export function useMonitorKeys({ id, created_by_key: key }: Incident): ReadonlySet<string> {
  const enabled = isKey(key);
  const { data } = useGet<ListTimelineEventsReply>(`/incidents/${id}/timeline?type_or_source=alert&limit=100`, {
    enabled,
  });
  return useMemo(
    () => new Set(enabled ? data?.events.flatMap(({ created_by_key: each }) => each?.prefix ?? []) : []),
    [enabled, data],
  );
}

/** Who or what acted: a person by the name, a monitor as one, another key with its owner. */
export function Actor({
  id,
  apiKey,
  isMonitor = false,
  inSentence = false,
}: {
  id: string;
  apiKey: ChangelogEntry['api_key'];
  isMonitor?: boolean;
  /** Whether it stands behind another word. */
  inSentence?: boolean;
}) {
  const nameOf = useNameOf();
  const { user } = useAccess();
  const monitors = useContext(MonitorKeys);
  const key = isKey(apiKey) ? apiKey : undefined;
  const owner = String(user?.id) === id ? (user?.name ?? '') : nameOf(id);
  const isOne = isMonitor || (key !== undefined && monitors.has(key.prefix));
  if (key === undefined && !isOne) {
    const name = nameOf(id);
    return <span className={ui.strong}>{inSentence && name === 'You' ? 'you' : name}</span>;
  }
  const what = inSentence ? 'monitor' : 'Monitor';
  return (
    <span className={css.actor} title={key && `API key of ${owner}`}>
      <Icon name={isOne ? 'alert' : 'key'} size={13} />
      <span className={ui.strong}>{key === undefined ? what : isOne ? `${what} ${key.name}` : key.name}</span>
      {key && !isOne && <span className={ui.muted}> (key of {owner})</span>}
    </span>
  );
}
