import type { Configuration, ServiceTier, Severity, WorkflowStatus } from '@tocsin/sdk';
import { useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import { formatValue } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import {
  Button,
  Card,
  Check,
  choices,
  classes,
  css as ui,
  Fault,
  Input,
  Loaded,
  NoPermission,
  Page,
  Select,
} from '../ui/ui.tsx';
import css from './configuration.module.css';

const PATH = '/settings/configuration';
type Draft = Pick<Configuration, 'workflow_statuses' | 'severities' | 'service_tiers'>;
type ListName = keyof Draft;
/** An entry with what some lists have besides. */
type Row = Pick<ServiceTier, 'key' | 'label' | 'is_default'> &
  Partial<Pick<WorkflowStatus, 'is_terminal'> & Pick<Severity, 'min_score'>>;

const LISTS = [
  ['workflow_statuses', 'Statuses', 'In the order in which an incident goes through them.'],
  ['severities', 'Severities', 'The most severe one first. Lists and pictures colour the first three.'],
  ['service_tiers', 'Service tiers', 'How important a service is, the most important tier first.'],
] as const;

export function ConfigurationPage() {
  const { canManage } = useAccess();
  const query = useGet<{ configuration: Configuration }>(PATH);
  if (query.error?.status === 403) {
    return <NoPermission title="Configuration" what="see the configuration" />;
  }
  return (
    <Page
      title="Configuration"
      lead="The words of your workspace. A status or severity that incidents have can be removed only if they get another one."
    >
      <Loaded query={query}>
        {({ configuration }) => (
          <Editor key={configuration.revision} configuration={configuration} canEdit={canManage} />
        )}
      </Loaded>
    </Page>
  );
}

function Editor({ configuration, canEdit }: { configuration: Configuration; canEdit: boolean }) {
  const [draft, setDraft] = useState<Draft>(configuration);
  const [replace, setReplace] = useState<Record<'statuses' | 'severities', Record<string, string>>>({
    statuses: {},
    severities: {},
  });
  const save = useWrite(PATH, '/configuration', '/incidents');
  const isChanged = LISTS.some(([name]) => JSON.stringify(draft[name]) !== JSON.stringify(configuration[name]));
  const removed = (name: ListName) =>
    configuration[name].filter(({ key }) => draft[name].every((each) => each.key !== key));
  const submit = () => {
    const { revision, ...rest } = configuration;
    const lists = LISTS.map(([name]) => [name, draft[name].map((row) => ({ ...row, order: undefined }))]);
    save.mutate(
      {
        method: 'PUT',
        path: PATH,
        revision,
        body: { ...rest, ...Object.fromEntries(lists), replace },
      },
      { onSuccess: () => say('The configuration is saved.') },
    );
  };
  return (
    <div className={ui.stack}>
      {LISTS.map(([name, title, lead]) => (
        <Card key={name} title={title}>
          <div className={css.list}>
            <p className={ui.muted}>{lead}</p>
            <List
              name={name}
              rows={draft[name]}
              canEdit={canEdit}
              known={configuration[name].map(({ key }) => key)}
              onChange={(rows) => setDraft({ ...draft, [name]: rows })}
            />
            {name !== 'service_tiers' &&
              removed(name).map(({ key, label }) => {
                const kind = name === 'severities' ? 'severities' : 'statuses';
                return (
                  <Select
                    key={key}
                    label={`Incidents that are ${label} become`}
                    options={[['', 'Nothing: refuse if there are any'], ...choices(draft[name], 'key', 'label')]}
                    value={replace[kind][key] ?? ''}
                    onValue={(value) => {
                      const { [key]: _removed, ...others } = replace[kind];
                      setReplace({ ...replace, [kind]: value === '' ? others : { ...others, [key]: value } });
                    }}
                  />
                );
              })}
          </div>
        </Card>
      ))}
      <Card title="Everything else" padded>
        <dl className={css.rest}>
          <dt>Exchange rates</dt>
          <dd>{formatValue(configuration.exchange_rates.map(({ currency, rate }) => `${currency} ${rate}`))}</dd>
          <dt>Timeline groups</dt>
          <dd>{formatValue(configuration.timeline_groups.map(({ name }) => name))}</dd>
        </dl>
      </Card>
      {!canEdit && <p className={ui.muted}>Only owners and admins change the configuration.</p>}
      {isChanged && (
        <div className={classes(ui.card, css.bar)}>
          <Fault>
            {save.error?.status === 412
              ? 'Somebody changed the configuration meanwhile. Reload the page.'
              : save.error?.message}
          </Fault>
          <Button onClick={() => setDraft(configuration)}>Discard</Button>
          <Button kind="primary" busy={save.isPending} onClick={submit}>
            Save
          </Button>
        </div>
      )}
    </div>
  );
}

function List({
  name,
  rows,
  known,
  canEdit,
  onChange,
}: {
  name: ListName;
  rows: readonly Row[];
  /** The keys that are stored, which stay what they are. */
  known: readonly string[];
  canEdit: boolean;
  onChange: (rows: Row[]) => void;
}) {
  const set = (index: number, change: Partial<Row>) =>
    onChange(rows.with(index, { ...(rows[index] as Row), ...change }));
  const move = (index: number, by: number) => {
    const row = rows[index] as Row;
    onChange(rows.toSpliced(index, 1).toSpliced(index + by, 0, row));
  };
  const fresh: Row = {
    ...{ key: '', label: '', is_default: rows.length === 0 },
    ...(name === 'severities' && { min_score: rows.at(-1)?.min_score ?? 0 }),
  };
  return (
    <>
      <ul className={css.rows}>
        {rows.map((row, index) => (
          <li key={index} className={css.row}>
            {known.includes(row.key) ? (
              <code>{row.key}</code>
            ) : (
              <Input bare label="Key" placeholder="key" value={row.key} onValue={(key) => set(index, { key })} />
            )}
            <Input
              bare
              label={`Name of ${row.key}`}
              readOnly={!canEdit}
              value={row.label}
              onValue={(label) => set(index, { label })}
            />
            <label className={ui.check}>
              <input
                type="radio"
                name={`${name}-default`}
                disabled={!canEdit}
                checked={row.is_default}
                onChange={() => onChange(rows.map((each, other) => ({ ...each, is_default: other === index })))}
              />
              Default
            </label>
            {'is_terminal' in row || name === 'workflow_statuses' ? (
              <Check
                label="Ends it"
                disabled={!canEdit}
                value={row.is_terminal === true}
                onValue={(isTerminal) => set(index, { is_terminal: isTerminal })}
              />
            ) : (
              <span />
            )}
            {canEdit && (
              <span className={css.tools}>
                {(
                  [
                    ['up', '↑', -1],
                    ['down', '↓', 1],
                  ] as const
                ).map(([direction, arrow, by]) => (
                  <Button
                    key={direction}
                    kind="quiet"
                    small
                    disabled={rows[index + by] === undefined}
                    aria-label={`Move ${row.label} ${direction}`}
                    onClick={() => move(index, by)}
                  >
                    {arrow}
                  </Button>
                ))}
                <Button
                  kind="quiet"
                  small
                  icon="close"
                  aria-label={`Remove ${row.label}`}
                  onClick={() => onChange(rows.toSpliced(index, 1))}
                />
              </span>
            )}
          </li>
        ))}
      </ul>
      {canEdit && (
        <div>
          <Button small icon="plus" onClick={() => onChange([...rows, fresh])}>
            Add
          </Button>
        </div>
      )}
    </>
  );
}
