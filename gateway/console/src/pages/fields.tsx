import { useState } from 'react';
import { useAccess, useList, useWrite } from '../api/hooks.ts';
import type { CustomField, Pagination } from '../api/types.ts';
import { EditDialog } from '../ui/edit-dialog.tsx';
import { formatName } from '../ui/format.ts';
import { Named, Table } from '../ui/table.tsx';
import { sayError } from '../ui/toast.tsx';
import { Badge, Button, Card, Check, css as ui, Empty, Input, Loaded, More, Page, Select } from '../ui/ui.tsx';
import { optionsOf } from './incident-filters.ts';

const TYPES = [
  'string',
  'number',
  'boolean',
  'select',
  'multi_select',
  'date',
  'time',
  'datetime',
  'monetary',
  'json',
] as const;
const NAMES: Partial<Record<CustomField['field_type'], string>> = {
  string: 'Text',
  boolean: 'Yes or no',
  select: 'One of a list',
  multi_select: 'Several of a list',
  datetime: 'Date and time',
  monetary: 'Money',
  json: 'JSON',
};
const nameOf = (type: CustomField['field_type']) => NAMES[type] ?? formatName(type);

export function FieldsPage() {
  const { canManage } = useAccess();
  const [edited, setEdited] = useState<CustomField | 'new'>();
  const archive = useWrite('/custom-fields');
  const list = useList<{ fields: CustomField[]; pagination: Pagination }>('/custom-fields');
  return (
    <Page
      title="Custom fields"
      lead="What an incident has in your workspace besides the common properties. Lists filter by them."
      actions={
        canManage && (
          <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
            New field
          </Button>
        )
      }
    >
      <Card>
        <Loaded query={list}>
          {({ pages }) => {
            const rows = pages.flatMap(({ fields }) => fields);
            if (rows.length === 0) {
              return (
                <Empty title="No custom field so far" icon="fields">
                  Root cause, affected orders, a customer: what your reviews ask for.
                </Empty>
              );
            }
            return (
              <Table
                columns={[
                  ['Name', ({ name, description, slug }) => <Named name={name} about={description ?? slug} />],
                  [
                    'Type',
                    (field) => (
                      <Named
                        name={nameOf(field.field_type)}
                        about={optionsOf(field)
                          .map(([, label]) => label)
                          .join(', ')}
                      />
                    ),
                  ],
                  [
                    'Asked for',
                    ({ required_on_creation: isRequired, show_on_creation: isShown }) => (
                      <Badge>{isRequired ? 'Required at the start' : isShown ? 'At the start' : 'Later'}</Badge>
                    ),
                  ],
                ]}
                rows={rows}
                keyOf={({ id }) => id}
                actions={
                  canManage &&
                  ((field) => (
                    <>
                      <Button kind="quiet" small onClick={() => setEdited(field)}>
                        Edit
                      </Button>
                      <Button
                        kind="quiet"
                        small
                        onClick={() =>
                          archive.mutate(
                            { method: 'DELETE', path: `/custom-fields/${field.id}` },
                            { onError: sayError },
                          )
                        }
                      >
                        Archive
                      </Button>
                    </>
                  ))
                }
              />
            );
          }}
        </Loaded>
        <More list={list} />
      </Card>
      {edited && <FieldDialog field={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
    </Page>
  );
}

const hasOptions = (type: string) => type === 'select' || type === 'multi_select';

function FieldDialog({ field, onClose }: { field: CustomField | undefined; onClose: () => void }) {
  const known = field === undefined ? [] : optionsOf(field);
  return (
    <EditDialog
      title={field === undefined ? 'New field' : `Edit ${field.name}`}
      initial={{
        name: field?.name ?? '',
        type: field?.field_type ?? 'string',
        options: known.map(([value]) => value).join('\n'),
        currency: field?.config?.currency ?? 'USD',
        isShown: field?.show_on_creation ?? true,
      }}
      request={({ name, type, options, currency, isShown }) => {
        const values = options
          .split('\n')
          .map((each) => each.trim())
          .filter((each) => each !== '');
        const labels = new Map(known);
        const config = hasOptions(type)
          ? {
              config: {
                ...field?.config,
                options: values.map((value) => ({ value, label: labels.get(value) ?? value })),
              },
            }
          : type === 'monetary' && field === undefined
            ? { config: { currency } }
            : {};
        return {
          method: field === undefined ? 'POST' : 'PATCH',
          path: field === undefined ? '/custom-fields' : `/custom-fields/${field.id}`,
          ...(field !== undefined && { revision: field.revision }),
          body: { name, show_on_creation: isShown, ...config, ...(field === undefined && { field_type: type }) },
        };
      }}
      onClose={onClose}
    >
      {(draft, set) => (
        <>
          <Input label="Name" name="name" value={draft.name} onChange={({ target }) => set({ name: target.value })} />
          {field === undefined && (
            <Select
              label="Type"
              name="field_type"
              hint="It cannot be changed later."
              options={TYPES.map((type) => [type, nameOf(type)])}
              value={draft.type}
              onChange={({ target }) => set({ type: target.value as CustomField['field_type'] })}
            />
          )}
          {hasOptions(draft.type) && (
            <div className={ui.field}>
              <label className={ui.label} htmlFor="field-options">
                Options, one in each line
              </label>
              <textarea
                id="field-options"
                className={ui.input}
                rows={4}
                value={draft.options}
                onChange={({ target }) => set({ options: target.value })}
              />
            </div>
          )}
          {draft.type === 'monetary' && field === undefined && (
            <Input
              label="Currency"
              maxLength={3}
              value={draft.currency}
              onChange={({ target }) => set({ currency: target.value.toUpperCase() })}
            />
          )}
          <Check
            label="Ask for it when an incident is created"
            checked={draft.isShown}
            onChange={({ target }) => set({ isShown: target.checked })}
          />
        </>
      )}
    </EditDialog>
  );
}
