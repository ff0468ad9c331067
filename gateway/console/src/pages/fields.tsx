import { useAccess } from '../api/hooks.ts';
import type { CustomField } from '../api/types.ts';
import { EditDialog, saveTo } from '../ui/edit-dialog.tsx';
import { NAME, ResourceList } from '../ui/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { Badge, Check, Empty, Input, Select, TextArea } from '../ui/ui.tsx';
import { optionsOf } from './incident-filters.ts';

const TYPES: Readonly<Record<CustomField['field_type'], string>> = {
  string: 'Text',
  number: 'Number',
  boolean: 'Yes or no',
  select: 'One of a list',
  multi_select: 'Several of a list',
  date: 'Date',
  time: 'Time',
  datetime: 'Date and time',
  monetary: 'Money',
  json: 'JSON',
};

export function FieldsPage() {
  const { canManage } = useAccess();
  return (
    <ResourceList<CustomField>
      title="Custom fields"
      lead="What an incident has in your workspace besides the common properties. Lists filter by them."
      path="/custom-fields"
      property="fields"
      create="New field"
      canChange={canManage}
      editor={(field, onClose) => <FieldDialog field={field} onClose={onClose} />}
      empty={
        <Empty title="No custom field so far" icon="fields">
          Root cause, affected orders, a customer: what your reviews ask for.
        </Empty>
      }
      columns={[
        NAME,
        [
          'Type',
          (field) => (
            <Named
              name={TYPES[field.field_type]}
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
    />
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
          ...saveTo('/custom-fields', field),
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
              options={Object.entries(TYPES)}
              value={draft.type}
              onChange={({ target }) => set({ type: target.value as CustomField['field_type'] })}
            />
          )}
          {hasOptions(draft.type) && (
            <TextArea
              label="Options, one in each line"
              name="config"
              rows={4}
              value={draft.options}
              onChange={({ target }) => set({ options: target.value })}
            />
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
