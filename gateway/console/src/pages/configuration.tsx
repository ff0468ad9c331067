import { useState } from 'react';
import { useAccess, useGet, useWrite } from '../api/hooks.ts';
import type { Configuration, Entry } from '../api/types.ts';
import { formatValue } from '../ui/format.ts';
import { say } from '../ui/toast.tsx';
import { Button, Card, Check, classes, css as ui, Input, Loaded, NoPermission, Page, Select } from '../ui/ui.tsx';
import css from './configuration.module.css';

const PATH = '/settings/configuration';
type Draft = Pick<Configuration, 'workflow_statuses' | 'severities' | 'service_tiers'>;
type ListName = keyof Draft;
/** An entry with what some lists have besides. */
type Row = Entry & { is_terminal?: boolean; min_score?: number };

const LISTS = [
  ['workflow_statuses', 'Statuses', 'In the order in which an incident goes through them.'],
  ['severities', 'Severities', 'The most severe one first. Lists and pictures colour the first three.'],
  ['service_tiers', 'Service tiers', 'How important a service is, the most important tier first.'],
] as const;

export function ConfigurationPage() {
  const { canManage } = useAccess();
  const query = useGet<{ configuration: Configuration }>(PATH);
  if (query.error?.status === 403) {
    return (
      <Page title="Configuration">
        <NoPermission what="see the configuration" />
      </Page>
    );
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
  const isChanged = (['workflow_statuses', 'severities', 'service_tiers'] as const).some(
    (name) => JSON.stringify(draft[name]) !== JSON.stringify(configuration[name]),
  );
  const removed = (name: ListName) =>
    configuration[name].filter(({ key }) => draft[name].every((each) => each.key !== key));
  const submit = () => {
    const withoutOrder = <Row extends Entry>(rows: readonly Row[]) => rows.map((row) => ({ ...row, order: undefined }));
    const { revision: _, ...rest } = configuration;
    save.mutate(
      {
        method: 'PUT',
        path: PATH,
        revision: configuration.revision,
        body: {
          ...rest,
          workflow_statuses: withoutOrder(draft.workflow_statuses),
          severities: withoutOrder(draft.severities),
          service_tiers: withoutOrder(draft.service_tiers),
          replace,
        },
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
                    options={[
                      ['', 'Nothing: refuse if there are any'],
                      ...draft[name].map((each) => [each.key, each.label] as const),
                    ]}
                    value={replace[kind][key] ?? ''}
                    onChange={({ target: { value } }) => {
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
          {save.error && (
            <p role="alert" className={ui.fault}>
              {save.error.status === 412
                ? 'Somebody changed the configuration meanwhile. Reload the page.'
                : save.error.message}
            </p>
          )}
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
              <Input
                bare
                label="Key"
                placeholder="key"
                value={row.key}
                onChange={({ target }) => set(index, { key: target.value })}
              />
            )}
            <Input
              bare
              label={`Name of ${row.key}`}
              readOnly={!canEdit}
              value={row.label}
              onChange={({ target }) => set(index, { label: target.value })}
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
                checked={row.is_terminal === true}
                onChange={({ target }) => set(index, { is_terminal: target.checked })}
              />
            ) : (
              <span />
            )}
            {canEdit && (
              <span className={css.tools}>
                <Button
                  kind="quiet"
                  small
                  disabled={index === 0}
                  aria-label={`Move ${row.label} up`}
                  onClick={() => move(index, -1)}
                >
                  ↑
                </Button>
                <Button
                  kind="quiet"
                  small
                  disabled={index === rows.length - 1}
                  aria-label={`Move ${row.label} down`}
                  onClick={() => move(index, 1)}
                >
                  ↓
                </Button>
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
